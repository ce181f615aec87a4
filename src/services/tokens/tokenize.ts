import { findTokenByFingerprint } from '../../data/token-inserts.ts';
import type { Transform } from '../../domain/access.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, invalid, ViolationCollector } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Token } from '../../domain/tokens.ts';
import { RequestBudget } from '../../expressions/request-budget.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import { newTokenRow, permitCreate, tokenOf, type TokenParts } from './create.ts';
import type { RenderToken } from './detokenize.ts';
import { draftToken, type TokenDraft } from './draft.ts';
import { openTokens } from './open.ts';
import { replaceSecrets, type Secret, secretsOf } from './secrets-of-payload.ts';
import { maskAtMost, showIdentity, showToken } from './show.ts';
import { type PlannedToken, storeAll, type StoredToken } from './store-all.ts';

/** Checks the JSON types of an object that is to become a token; throws 'invalid' with paths below `path`. */
export type CheckTokenInput = (input: JsonObject, path: string) => void;

export interface TokenizeOptions {
  check: CheckTokenInput;
  render: RenderToken;
  /** The property that holds the payload; empty where it is the body itself. */
  path?: string;
  /** False for the output of a reactor: whoever may run it may have it tokenize. */
  needsPermission: boolean;
}

interface Planned extends PlannedToken {
  transform: Transform;
}

function draftAll(
  parts: TokenParts,
  caller: Caller,
  secrets: readonly Secret[],
  check: CheckTokenInput,
): readonly TokenDraft[] {
  const now = parts.clock.now();
  const budget = new RequestBudget();
  const violations = new ViolationCollector();
  const drafts = secrets.map(({ path, whole, input }) =>
    violations.collect(() => {
      if (whole) check(input as unknown as JsonObject, path);
      return draftToken(input, { settings: caller.settings, now, path, budget });
    }),
  );
  violations.throwIfAny();
  return drafts as TokenDraft[];
}

/** Prepares a draft under one id. */
async function plan(
  parts: TokenParts,
  caller: Caller,
  draft: TokenDraft,
  id: string,
  needsPermission: boolean,
): Promise<Planned> {
  const transform = needsPermission ? permitCreate(caller, draft, id) : 'mask';
  return { draft, transform: maskAtMost(transform), row: await newTokenRow(parts, caller, draft, id) };
}

/**
 * Throws 'unprocessable' where a stored token that is to take the place of a new one is damaged, before anything is
 * stored: data that is given up for a token must be in it.
 */
async function refuseDamagedDuplicates(parts: TokenParts, caller: Caller, all: readonly Planned[]): Promise<void> {
  const found = all.map(async ({ draft, row: { tenantId, type, fingerprint } }) => {
    if (!draft.deduplicate || fingerprint === null) return undefined;
    return findTokenByFingerprint(parts.database, tenantId, type, fingerprint);
  });
  const rows = (await Promise.all(found)).filter((row) => row !== undefined);
  await openTokens(parts, caller, 'read', rows);
}

/** The answers to whole token objects. A read of what others stored is logged before it is shown. */
async function showStored(
  parts: TokenParts,
  caller: Caller,
  stored: readonly StoredToken<Planned>[],
  render: RenderToken,
): Promise<Json[]> {
  const existing = new Map<string, Token>();
  const rows = stored.flatMap(({ existing: row }) => row ?? []);
  for (const token of await openTokens(parts, caller, 'read', rows)) existing.set(token.id, token);
  const read = rows.filter((row) => decideAccess(caller, 'token:read', row) !== undefined);
  await parts.audit.record(read.map((row) => tokenLogEntry(actorOf(caller), 'read', row)));
  const budget = new RequestBudget();
  return stored.map(({ planned, existing: row }) => {
    if (row === undefined) return render(showToken(tokenOf(planned.row, planned.draft), planned.transform, budget));
    const token = existing.get(row.id)!;
    const transform = decideAccess(caller, 'token:read', row);
    return render(transform === undefined ? showIdentity(token) : showToken(token, maskAtMost(transform), budget));
  });
}

/**
 * Replaces what is secret in `payload` by tokens, keeping its shape: an object with `type` and `data` by its token, any
 * other primitive but null by the id of one. All are stored or none. The tenant's tokenize quota bounds their number.
 */
export async function tokenize(
  parts: TokenParts,
  caller: Caller,
  payload: Json,
  { check, render, path = '', needsPermission }: TokenizeOptions,
): Promise<Json> {
  const { tokenize: limit } = caller.quotas;
  const secrets = secretsOf(payload, path, limit + 1);
  if (secrets.length > limit) throw invalid(path, `must not hold more than ${limit} values to tokenize`);
  if (secrets.length === 0) return payload;

  const drafts = draftAll(parts, caller, secrets, check);
  const replan = async ({ draft }: Planned) => {
    const next = draft.otherIds.next();
    if (next.done === true) throw new DomainError('conflict', 'An id is taken by another token; nothing was stored.');
    return plan(parts, caller, draft, next.value, needsPermission);
  };
  const planned = await Promise.all(drafts.map((draft) => plan(parts, caller, draft, draft.id, needsPermission)));
  await refuseDamagedDuplicates(parts, caller, planned);
  const stored = await storeAll(parts, actorOf(caller), planned, replan);
  const whole = stored.filter((_, index) => secrets[index]!.whole);
  const shown = (await showStored(parts, caller, whole, render)).values();
  const ids = stored.map(({ planned: { row }, existing }) => existing?.id ?? row.id).values();
  return replaceSecrets(payload, (isWhole) => {
    const id = ids.next().value!;
    return isWhole ? shown.next().value! : id;
  });
}
