import { createHash } from 'node:crypto';
import type { LogEntry } from '../domain/logs.ts';
import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Database, Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';
import { removeExpiredTokens } from './token-expiry.ts';
import { foldMetadata } from './token-metadata.ts';
import { CVC_JOIN, TOKEN_COLUMNS, UNEXPIRED, type NewToken, type TokenRow } from './tokens.ts';

// Parameters are arrays, one element a token, so that one plan serves any number. Hashes come as pairs of token id and
// hash, since unnest would flatten an array of arrays.
const INSERT: Statement = {
  name: 'insert-tokens',
  text: `
    with created as (
      insert into tokens (tenant_id, token_id, type, container, data, mask, metadata, metadata_folded, search_indexes,
        fingerprint, fingerprint_expression, expires_at, created_by, created_at, sealed_format)
      select *, ${SEALED_FORMAT}
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::jsonb[], $8::jsonb[],
        $9::jsonb[], $10::bytea[], $11::text[], $12::timestamptz[], $13::uuid[], $14::timestamptz[])
      on conflict (tenant_id, token_id) do nothing
      returning tenant_id, token_id
    ), hashed as (
      insert into token_search_hashes (tenant_id, token_id, hash)
      select distinct created.tenant_id, created.token_id, h.hash
      from created join unnest($15::uuid[], $16::text[], $17::bytea[]) as h (tenant_id, token_id, hash)
        using (tenant_id, token_id)
    ), stored as (
      insert into token_cvcs (tenant_id, token_id, cvc, expires_at, sealed_format)
      select created.tenant_id, created.token_id, c.cvc, c.expires_at, ${SEALED_FORMAT}
      from created join unnest($18::uuid[], $19::text[], $20::bytea[], $21::timestamptz[])
        as c (tenant_id, token_id, cvc, expires_at) using (tenant_id, token_id)
    ), logged as (${insertLogEntries(
      22,
      'exists (select from created c where c.tenant_id = l.tenant_id and c.token_id = l.entity_id)',
    )})
    select tenant_id as "tenantId", token_id as "id" from created`,
};

/**
 * Inserts tokens, of any tenants, each with the log entry whose entity id is the token's. Gives the tokens whose id was
 * taken, of which nothing is stored: to insert all or none, throw from a transaction where there is one. An expired
 * token holds no id.
 */
export async function insertTokens(
  queryable: Queryable,
  tokens: readonly NewToken[],
  logs: readonly LogEntry[],
): Promise<NewToken[]> {
  const taken = await insertWhereFree(queryable, tokens, logs);
  if (taken.length === 0) return [];
  const freed = await removeExpiredTokens(queryable, taken);
  if (freed.length === 0) return taken;
  const stillTaken = await insertWhereFree(queryable, freed, logs);
  return taken.filter((token) => !freed.includes(token) || stillTaken.includes(token));
}

async function insertWhereFree(
  queryable: Queryable,
  tokens: readonly NewToken[],
  logs: readonly LogEntry[],
): Promise<NewToken[]> {
  const hashes = tokens.flatMap((token) => token.searchHashes.map((hash) => ({ token, hash })));
  const coded = tokens.filter((token) => token.cvc !== null);
  const created = await queryable.run<{ tenantId: string; id: string }>(INSERT, [
    tokens.map((token) => token.tenantId),
    tokens.map((token) => token.id),
    tokens.map((token) => token.type),
    tokens.map((token) => token.container),
    tokens.map((token) => token.data),
    tokens.map((token) => token.mask),
    tokens.map((token) => JSON.stringify(token.metadata)),
    tokens.map((token) => foldMetadata(token.metadata)),
    tokens.map((token) => (token.searchIndexes === null ? null : JSON.stringify(token.searchIndexes))),
    tokens.map((token) => token.fingerprint),
    tokens.map((token) => token.fingerprintExpression),
    tokens.map((token) => token.expiresAt),
    tokens.map((token) => token.createdBy),
    tokens.map((token) => token.createdAt),
    hashes.map(({ token }) => token.tenantId),
    hashes.map(({ token }) => token.id),
    hashes.map(({ hash }) => hash),
    coded.map((token) => token.tenantId),
    coded.map((token) => token.id),
    coded.map((token) => token.cvc!.sealed),
    coded.map((token) => token.cvc!.expiresAt),
    ...logParameters(logs),
  ]);
  if (created.length === tokens.length) return [];
  const stored = new Set(created.map(({ tenantId, id }) => `${tenantId}/${id}`));
  // Of two new tokens with one id the first is stored.
  return tokens.filter((token) => !stored.delete(`${token.tenantId}/${token.id}`));
}

/** 'id-taken', with nothing stored, where the tenant has a token with this id. */
export async function insertToken(
  queryable: Queryable,
  token: NewToken,
  log: LogEntry,
): Promise<'created' | 'id-taken'> {
  return (await insertTokens(queryable, [token], [log])).length === 0 ? 'created' : 'id-taken';
}

// Without a name: planned anew as the table grows, so that a plan from when it was empty is not kept.
const FIND_BY_FINGERPRINT: Statement = {
  text: `
    select ${TOKEN_COLUMNS}
    from tokens t ${CVC_JOIN}
    where t.tenant_id = $1 and t.type = $2 and t.fingerprint = $3 and ${UNEXPIRED}
    order by t.created_at, t.token_id
    limit 1`,
};

/** The oldest token of this type and fingerprint. */
export async function findTokenByFingerprint(
  queryable: Queryable,
  tenantId: string,
  type: string,
  fingerprint: Buffer,
): Promise<TokenRow | undefined> {
  const [token] = await queryable.run<TokenRow>(FIND_BY_FINGERPRINT, [tenantId, type, fingerprint]);
  return token;
}

const LOCK_FINGERPRINT: Statement = { name: 'lock-fingerprint', text: 'select pg_advisory_xact_lock($1::bigint)' };

/**
 * Until the transaction ends, no other one that asks for this lock decides whether the fingerprint is taken. Lock
 * several in the order of `fingerprintLock`, or two transactions may wait for each other.
 */
export async function lockFingerprint(
  transaction: Queryable,
  tenantId: string,
  type: string,
  fingerprint: Buffer,
): Promise<void> {
  await transaction.run(LOCK_FINGERPRINT, [fingerprintLock(tenantId, type, fingerprint).toString()]);
}

/** The number under which a fingerprint is locked. Where two share one, one merely waits for the other. */
export function fingerprintLock(tenantId: string, type: string, fingerprint: Buffer): bigint {
  const digest = createHash('sha256').update(`${tenantId}/${type}/`).update(fingerprint).digest();
  return digest.readBigInt64BE();
}

export type DeduplicatedInsert =
  { outcome: 'created' } | { outcome: 'id-taken' } | { outcome: 'existing'; token: TokenRow };

/** Inserts the token unless the tenant has one of its type and fingerprint, however many try at the same time. */
export async function insertTokenOnce(
  database: Database,
  token: NewToken & { fingerprint: Buffer },
  log: LogEntry,
): Promise<DeduplicatedInsert> {
  return database.transaction(async (transaction) => {
    await lockFingerprint(transaction, token.tenantId, token.type, token.fingerprint);
    const existing = await findTokenByFingerprint(transaction, token.tenantId, token.type, token.fingerprint);
    if (existing !== undefined) return { outcome: 'existing', token: existing };
    return { outcome: await insertToken(transaction, token, log) };
  });
}
