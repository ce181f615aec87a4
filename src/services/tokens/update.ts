import { setTimeout as delay } from 'node:timers/promises';
import { findTokenByFingerprint } from '../../data/token-inserts.ts';
import { findToken, updateToken as updateRow, type TokenChange, type TokenRow } from '../../data/tokens.ts';
import { decideAccess, type Transform } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { mergePatch } from '../../domain/merge-patch.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { splitCvc } from '../../domain/token-types.ts';
import { TOKEN_LIMITS, type Token } from '../../domain/tokens.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import { updatedByOthers, type UpdateTurns } from '../update-turns.ts';
import type { TokenParts } from './create.ts';
import { draftToken, type TokenDraft, wholeData } from './draft.ts';
import type { TokenInput } from './form.ts';
import { openTokens } from './open.ts';
import { noGrant, noSuchToken } from './read.ts';
import { showOutline, showToken } from './show.ts';
import { presentFingerprint } from './vault.ts';

/** A merge patch of a token, of the API's JSON types. */
export interface TokenPatch {
  data?: Json;
  mask?: Json;
  metadata?: Record<string, string | null> | null;
  containers?: string[];
  search_indexes?: string[] | null;
  fingerprint_expression?: string | null;
  deduplicate_token?: boolean;
  expires_at?: string | null;
}

/** How often an update is tried because one of another replica came first: under a second in all. */
const ATTEMPTS = 25;
/** Those that collide wait for random times that grow by this, or they would collide again. */
const SPREAD_MS = 3;

function patchedMetadata(
  current: Record<string, string>,
  patch: TokenPatch['metadata'],
  violations: ViolationCollector,
): Record<string, string> {
  if (patch === undefined) return current;
  const merged = (mergePatch(current, patch) ?? {}) as Record<string, string>;
  const keys = Object.keys(merged);
  if (keys.length > TOKEN_LIMITS.metadataEntries) {
    violations.add('metadata', `must have at most ${TOKEN_LIMITS.metadataEntries} entries`);
  }
  if (keys.some((key) => key.length > TOKEN_LIMITS.metadataKeyLength || key === '')) {
    violations.add('metadata', `must have keys of 1 to ${TOKEN_LIMITS.metadataKeyLength} characters`);
  }
  return merged;
}

/** The token as the patch makes it (RFC 7386), in the form in which one is created. */
function patchedInput(token: Token, patch: TokenPatch, violations: ViolationCollector): TokenInput {
  return {
    id: token.id,
    type: token.type,
    data: 'data' in patch ? mergePatch(token.data, patch.data ?? null) : token.data,
    mask: 'mask' in patch ? mergePatch(token.mask, patch.mask ?? null) : token.mask,
    containers: patch.containers?.length ? patch.containers : [token.container],
    metadata: patchedMetadata(token.metadata, patch.metadata, violations),
    search_indexes: 'search_indexes' in patch ? patch.search_indexes : token.searchIndexes,
    fingerprint_expression:
      'fingerprint_expression' in patch ? patch.fingerprint_expression : token.fingerprintExpression,
    deduplicate_token: patch.deduplicate_token,
    ...('expires_at' in patch ? { expires_at: patch.expires_at } : {}),
  };
}

function draftPatched(parts: TokenParts, caller: Caller, token: Token, patch: TokenPatch): TokenDraft {
  const violations = new ViolationCollector();
  const input = patchedInput(token, patch, violations);
  const context = { settings: caller.settings, now: parts.clock.now(), path: '' };
  const draft = violations.collect(() => draftToken(input, context));
  violations.throwIfAny();
  // An expiry that is not patched stays, even where it ends at this very moment.
  return 'expires_at' in patch ? draft! : { ...draft!, expiresAt: token.expiresAt };
}

/** The stored code's fate; undefined: it stays, and so does the end of its retention. */
async function changeOfCvc(parts: TokenParts, caller: Caller, token: Token, cvc: string | null) {
  if (cvc === splitCvc(token.type, token.data).cvc) return {};
  return { cvc: cvc === null ? null : await parts.vault.sealCvc(token, cvc, caller.quotas) };
}

async function changeOf(
  parts: TokenParts,
  caller: Caller,
  { token, version }: { token: Token; version: number },
  draft: TokenDraft,
): Promise<TokenChange> {
  return {
    ...(await parts.vault.sealColumns({ ...token, version }, draft)),
    ...(await changeOfCvc(parts, caller, token, draft.cvc)),
    modifiedBy: caller.applicationId,
    modifiedAt: new Date(parts.clock.now()),
  };
}

function changedToken(token: Token, draft: TokenDraft, change: TokenChange): Token {
  const { container, mask, metadata, searchIndexes, fingerprintExpression, expiresAt } = draft;
  const { fingerprint, modifiedBy, modifiedAt } = change;
  return {
    ...token,
    ...{ container, mask, metadata, searchIndexes, fingerprintExpression, expiresAt, modifiedBy, modifiedAt },
    data: wholeData(draft),
    fingerprint: fingerprint === null ? null : presentFingerprint(fingerprint),
  };
}

async function duplicatesUnreadable(parts: TokenParts, caller: Caller, id: string, change: TokenChange) {
  if (change.fingerprint === null) return false;
  const other = await findTokenByFingerprint(parts.database, caller.tenantId, change.type, change.fingerprint);
  return other !== undefined && other.id !== id && decideAccess(caller, 'token:read', other) === undefined;
}

function permitUpdate(caller: Caller, row: TokenRow, draft: TokenDraft): Transform {
  const transform = decideAccess(caller, 'token:update', { id: row.id, container: draft.container });
  if (transform === undefined) {
    throw new DomainError('forbidden', `No grant of token:update covers the container ${draft.container}.`);
  }
  return transform;
}

async function tryUpdate(parts: TokenParts, caller: Caller, id: string, patch: TokenPatch) {
  const row = await findToken(parts.database, caller.tenantId, id);
  if (row === undefined) throw noSuchToken();
  if (decideAccess(caller, 'token:update', row) === undefined) throw noGrant('token:update');
  const [token] = await openTokens(parts, caller, 'update', [row]);
  const draft = draftPatched(parts, caller, token!, patch);
  const transform = permitUpdate(caller, row, draft);
  const change = await changeOf(parts, caller, { token: token!, version: row.version + 1 }, draft);
  const hidden = draft.deduplicate && (await duplicatesUnreadable(parts, caller, id, change));
  const log = tokenLogEntry(actorOf(caller), 'update', row);
  if (!(await updateRow(parts.database, row, change, log))) return undefined;

  const updated = changedToken(token!, draft, change);
  if (hidden) return showOutline(updated);
  return showToken(updated, setsItsOwnView(caller, row, patch) ? 'redact' : transform);
}

/** A new mask decides what a masked answer shows: it does not do so for one who may not read the token at all. */
function setsItsOwnView(caller: Caller, row: TokenRow, patch: TokenPatch): boolean {
  return 'mask' in patch && decideAccess(caller, 'token:read', row) === undefined;
}

async function updateAmongReplicas(
  parts: TokenParts,
  caller: Caller,
  id: string,
  patch: TokenPatch,
): Promise<ShownToken> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const shown = await tryUpdate(parts, caller, id, patch);
    if (shown !== undefined) return shown;
    await delay(Math.random() * SPREAD_MS * attempt);
  }
  throw updatedByOthers('token');
}

/**
 * Applies a merge patch to a token and shows the result as the grant of `token:update` does; a patched token obeys
 * every rule that a new one does. Moving it to another container takes the permission on both.
 *
 * Where the update makes it a duplicate of a token that the caller may not read, nothing that was put into it is shown.
 * Throws 'conflict' where others update it all the time; 'unprocessable' where it is damaged, for then there is nothing
 * to merge into; 'unavailable' once `signal` is aborted before its turn.
 */
export async function updateToken(
  parts: TokenParts & { readonly tokenUpdates: UpdateTurns },
  caller: Caller,
  id: string,
  patch: TokenPatch,
  signal?: AbortSignal,
): Promise<ShownToken> {
  const { tenantId } = caller;
  return parts.tokenUpdates.run({ tenantId, id }, () => updateAmongReplicas(parts, caller, id, patch), signal);
}
