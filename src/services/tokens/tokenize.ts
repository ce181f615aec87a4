import { randomUUID } from 'node:crypto';
import { findTokenByFingerprint, fingerprintLock, insertTokens, lockFingerprint } from '../../data/token-inserts.ts';
import type { Queryable } from '../../data/database.ts';
import type { NewToken } from '../../data/tokens.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { childPath } from '../../domain/json-guard.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import type { Token } from '../../domain/tokens.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import { newTokenRow, tokenOf, type TokenParts } from './create.ts';
import type { RenderToken } from './detokenize.ts';
import { draftToken, type TokenDraft, type TokenInput } from './draft.ts';
import { showIdentity, showToken } from './show.ts';

/** What in a payload becomes a token. */
interface Found {
  path: string;
  /** A whole token object, answered as one; a primitive is answered by its id. */
  whole: boolean;
  input: TokenInput;
}

interface Planned extends Found {
  draft: TokenDraft;
  row: NewToken;
}

/** Checks the JSON types of an object that is to become a token; throws 'invalid' with paths below `path`. */
export type CheckTokenInput = (input: JsonObject, path: string) => void;

function isTokenObject(value: Json): value is JsonObject {
  return isJsonObject(value) && typeof value['type'] === 'string' && 'data' in value;
}

function findAll(value: Json, path: string, found: Found[]): void {
  if (isTokenObject(value)) found.push({ path, whole: true, input: value as unknown as TokenInput });
  else if (Array.isArray(value)) value.forEach((element, index) => findAll(element, childPath(path, index), found));
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) findAll(member, childPath(path, name), found);
  } else if (value !== null) found.push({ path, whole: false, input: { type: 'token', data: value } });
}

function replaceAll(value: Json, path: string, replacements: ReadonlyMap<string, Json>): Json {
  const replacement = replacements.get(path);
  if (replacement !== undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((element, index) => replaceAll(element, childPath(path, index), replacements));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replaceAll(member, childPath(path, name), replacements)]),
  );
}

function idOf(draft: TokenDraft): string {
  if (draft.id === undefined) return randomUUID();
  return 'given' in draft.id ? draft.id.given : draft.id.candidates();
}

/** Existing tokens that take the place of planned ones, by path. Holds the locks of their fingerprints. */
async function findDuplicates(transaction: Queryable, planned: readonly Planned[]) {
  const wanted = planned.flatMap(({ path, draft, row }) =>
    draft.deduplicate && row.fingerprint !== null
      ? [{ path, row, lock: fingerprintLock(row.tenantId, row.type, row.fingerprint), fingerprint: row.fingerprint }]
      : [],
  );
  wanted.sort((left, right) => (left.lock < right.lock ? -1 : left.lock > right.lock ? 1 : 0));
  const duplicates = new Map<string, { id: string; row?: Awaited<ReturnType<typeof findTokenByFingerprint>> }>();
  const first = new Map<bigint, string>();
  for (const { path, row, lock, fingerprint } of wanted) {
    await lockFingerprint(transaction, row.tenantId, row.type, fingerprint);
    const existing = await findTokenByFingerprint(transaction, row.tenantId, row.type, fingerprint);
    const earlier = first.get(lock);
    if (existing !== undefined) duplicates.set(path, { id: existing.id, row: existing });
    else if (earlier !== undefined) duplicates.set(path, { id: earlier });
    else first.set(lock, row.id);
  }
  return duplicates;
}

async function store(parts: TokenParts, caller: Caller, planned: readonly Planned[]) {
  const actor = actorOf(caller);
  return parts.database.transaction(async (transaction) => {
    const duplicates = await findDuplicates(transaction, planned);
    const fresh = planned.filter(({ path }) => !duplicates.has(path));
    const taken = await insertTokens(
      transaction,
      fresh.map(({ row }) => row),
      fresh.map(({ row }) => tokenLogEntry(actor, 'create', row)),
    );
    if (taken.length > 0) {
      throw new DomainError('conflict', `Ids are taken by other tokens: ${taken.map(({ id }) => id).join(', ')}.`);
    }
    return duplicates;
  });
}

function permitCreate(caller: Caller, draft: TokenDraft, id: string): void {
  if (decideAccess(caller, 'token:create', { id, container: draft.container }) === undefined) {
    throw new DomainError('forbidden', `No grant of token:create covers the container ${draft.container}.`);
  }
}

export interface TokenizeOptions {
  check: CheckTokenInput;
  render: RenderToken;
  /** False for the output of a reactor: whoever may run it may have it tokenize. */
  needsPermission: boolean;
}

/**
 * Replaces what is secret in `payload` by tokens, keeping its shape: an object with `type` and `data` by its token, any
 * other primitive but null by the id of one. All are stored or none. The tenant's tokenize quota bounds their number.
 */
export async function tokenize(
  parts: TokenParts,
  caller: Caller,
  payload: Json,
  { check, render, needsPermission }: TokenizeOptions,
): Promise<Json> {
  const found: Found[] = [];
  findAll(payload, '', found);
  const { tokenize: limit } = caller.quotas;
  if (found.length > limit) throw invalid('', `must not hold more than ${limit} values to tokenize`);
  if (found.length === 0) return payload;

  const now = parts.clock.now();
  const drafts = found.map((entry) => {
    if (entry.whole) check(entry.input as unknown as JsonObject, entry.path);
    const draft = draftToken(entry.input, { settings: caller.settings, now, path: entry.path });
    const id = idOf(draft);
    if (needsPermission) permitCreate(caller, draft, id);
    return { ...entry, draft, id };
  });
  const planned = await Promise.all(
    drafts.map(async ({ id, ...entry }) => ({ ...entry, row: await newTokenRow(parts, caller, entry.draft, id) })),
  );
  const duplicates = await store(parts, caller, planned);
  return replaceAll(payload, '', await replacementsOf(parts, caller, planned, duplicates, render));
}

async function replacementsOf(
  parts: TokenParts,
  caller: Caller,
  planned: readonly Planned[],
  duplicates: Awaited<ReturnType<typeof findDuplicates>>,
  render: RenderToken,
): Promise<Map<string, Json>> {
  const byId = new Map(planned.map(({ row, draft }) => [row.id, tokenOf(row, draft)]));
  const existing = await parts.vault.open([...duplicates.values()].flatMap(({ row }) => row ?? []));
  for (const token of existing) byId.set(token.id, token);
  return new Map(
    planned.map(({ path, whole, row }) => {
      const id = duplicates.get(path)?.id ?? row.id;
      const known = existing.some((token) => token.id === id);
      return [path, whole ? render(showFor(caller, byId.get(id)!, known)) : id];
    }),
  );
}

// A duplicate that the caller may not read shows that it exists, and nothing that was put into it.
function showFor(caller: Caller, token: Token, existing: boolean): ShownToken {
  if (!existing) return showToken(token, 'mask');
  const transform = decideAccess(caller, 'token:read', token);
  return transform === undefined ? showIdentity(token) : showToken(token, transform === 'redact' ? 'redact' : 'mask');
}
