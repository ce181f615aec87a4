import { isDeepStrictEqual } from 'node:util';
import type { TokenRow } from '../../data/tokens.ts';
import type { Transform } from '../../domain/access.ts';
import { enrichmentsOf } from '../../domain/card-details.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { identifyingValue, splitCvc } from '../../domain/token-types.ts';
import type { Token } from '../../domain/tokens.ts';
import type { RequestBudget } from '../../expressions/request-budget.ts';
import { evaluateTemplate } from '../../expressions/template.ts';
import { presentFingerprint } from './vault.ts';
import { createValueFinder } from './value-finder.ts';

/** Whether a mask's output holds the very value that it is there to hide. */
function givesAway(masked: Json, isIn: (text: string) => boolean): boolean {
  if (typeof masked === 'object' && masked !== null) {
    return Object.values(masked).some((member) => givesAway(member, isIn));
  }
  return isIn(String(masked));
}

/**
 * The masked data of a token; undefined where it has no mask, or where the mask would show the data itself.
 *
 * Masks are made by whoever may create or update the token, and read by others: one that is no mask hides everything.
 */
export function maskedData(token: Token, budget?: RequestBudget): Json | undefined {
  if (token.mask === null) return undefined;
  const { data } = splitCvc(token.type, token.data);
  try {
    const masked = evaluateTemplate(token.mask, { data, metadata: token.metadata }, 'mask', budget);
    if (isDeepStrictEqual(masked, data) || (data !== token.data && isDeepStrictEqual(masked, token.data))) {
      return undefined;
    }
    const isIn = createValueFinder(identifyingValue(token.type, data) ?? '');
    return isIn !== undefined && givesAway(masked, isIn) ? undefined : masked;
  } catch (error) {
    // A mask that cannot be evaluated must hide, not fail: a list would be unreadable for one bad token, or for many
    // slow ones.
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

function withoutData(token: Token): Omit<Token, 'data'> {
  const { data: _, ...rest } = token;
  return rest;
}

/** What an answer to a write shows at most: data that was just sent need not come back in plaintext. */
export function maskAtMost(transform: Transform): Transform {
  return transform === 'reveal' ? 'mask' : transform;
}

/** A token as `transform` lets its data be seen; without data once the masks of its `budget` have taken too long. */
export function showToken(token: Token, transform: Transform, budget?: RequestBudget): ShownToken {
  const shown: ShownToken = { token: withoutData(token), visibility: 'full' };
  const data = transform === 'reveal' ? token.data : transform === 'mask' ? maskedData(token, budget) : undefined;
  if (data === undefined) return shown;
  return transform === 'reveal' ? { ...shown, data, revealed: true } : { ...shown, data };
}

/** A token in plaintext with its enrichments, for list-form detokenization. */
export function showEnriched(token: Token): ShownToken {
  const enrichments = enrichmentsOf(token.type, token.data);
  const shown = showToken(token, 'reveal');
  return enrichments === undefined ? shown : { ...shown, enrichments };
}

/** Only that a token exists: what a caller sees of a duplicate that it may not read. */
export function showIdentity(token: Token): ShownToken {
  return { token: withoutData(token), visibility: 'identity' };
}

/** A token of which what is stored is damaged: that it exists, and that nothing else can be said. */
export function showDamaged(row: TokenRow): ShownToken {
  const fingerprint = row.fingerprint === null ? null : presentFingerprint(row.fingerprint);
  return { token: { ...row, mask: null, fingerprint }, visibility: 'damaged' };
}

/** A token without anything that was put into it. */
export function showOutline(token: Token): ShownToken {
  return { token: withoutData(token), visibility: 'outline' };
}
