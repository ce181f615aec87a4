import type { Database } from '../../data/database.ts';
import { insertToken, insertTokenOnce } from '../../data/token-inserts.ts';
import type { NewToken, TokenRow } from '../../data/tokens.ts';
import { decideAccess, type Transform } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError } from '../../domain/errors.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import type { Token } from '../../domain/tokens.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Audit } from '../audit.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import { draftToken, type TokenDraft, wholeData } from './draft.ts';
import type { TokenInput } from './form.ts';
import { openTokens } from './open.ts';
import { maskAtMost, showIdentity, showToken } from './show.ts';
import { presentFingerprint, type TokenVault } from './vault.ts';

export interface TokenParts {
  readonly database: Database;
  readonly vault: TokenVault;
  readonly audit: Audit;
  readonly clock: Clock;
}

export interface CreatedToken {
  shown: ShownToken;
  /** False where an existing token of the same type and fingerprint is answered. */
  created: boolean;
}

/** As the column has it by default. */
const FIRST_VERSION = 1;

/** Builds the row of a new token under one id. */
export async function newTokenRow(parts: TokenParts, caller: Caller, draft: TokenDraft, id: string): Promise<NewToken> {
  const { tenantId, applicationId, quotas } = caller;
  const identity = { tenantId, id, createdAt: new Date(parts.clock.now()) };
  return {
    ...identity,
    ...(await parts.vault.sealColumns({ ...identity, version: FIRST_VERSION }, draft)),
    cvc: draft.cvc === null ? null : await parts.vault.sealCvc(identity, draft.cvc, quotas),
    createdBy: applicationId,
  };
}

/** The token that a new row holds. */
export function tokenOf(row: NewToken, draft: TokenDraft): Token {
  return {
    ...row,
    data: wholeData(draft),
    mask: draft.mask,
    fingerprint: row.fingerprint === null ? null : presentFingerprint(row.fingerprint),
    modifiedBy: null,
    modifiedAt: null,
  };
}

/** Every id to try for a draft, best first. */
function* idsOf(draft: TokenDraft): Generator<string> {
  yield draft.id;
  yield* draft.otherIds;
}

/** The transform of the grant under which a token may be created; throws 'forbidden'. */
export function permitCreate(caller: Caller, draft: TokenDraft, id: string): Transform {
  const transform = decideAccess(caller, 'token:create', { id, container: draft.container });
  if (transform !== undefined) return transform;
  throw new DomainError('forbidden', `No grant of token:create covers the container ${draft.container}.`);
}

async function showDuplicate(parts: TokenParts, caller: Caller, row: TokenRow): Promise<ShownToken> {
  // Also for one who is shown no more than its id: data that is given up for a token must be in it.
  const [token] = await openTokens(parts, caller, 'read', [row]);
  const transform = decideAccess(caller, 'token:read', row);
  if (transform === undefined) return showIdentity(token!);
  await parts.audit.record([tokenLogEntry(actorOf(caller), 'read', row)]);
  return showToken(token!, maskAtMost(transform));
}

/**
 * Stores a token, and shows it masked: what was just sent need not come back in plaintext.
 *
 * Throws 'invalid', 'forbidden' where no grant of `token:create` covers the container, 'conflict' where the id is
 * taken, 'unprocessable' where the token that would be given in its place is damaged, 'unavailable'.
 */
export async function createToken(parts: TokenParts, caller: Caller, input: TokenInput): Promise<CreatedToken> {
  const draft = draftToken(input, { settings: caller.settings, now: parts.clock.now(), path: '' });
  for (const id of idsOf(draft)) {
    const transform = permitCreate(caller, draft, id);
    const token = await newTokenRow(parts, caller, draft, id);
    const log = tokenLogEntry(actorOf(caller), 'create', token);
    const { fingerprint } = token;
    const result =
      draft.deduplicate && fingerprint !== null
        ? await insertTokenOnce(parts.database, { ...token, fingerprint }, log)
        : { outcome: await insertToken(parts.database, token, log) };
    if (result.outcome === 'existing') {
      return { shown: await showDuplicate(parts, caller, result.token), created: false };
    }
    if (result.outcome === 'created') {
      return { shown: showToken(tokenOf(token, draft), maskAtMost(transform)), created: true };
    }
  }
  throw new DomainError('conflict', 'The id is taken by another token.', { violations: { id: ['is taken'] } });
}
