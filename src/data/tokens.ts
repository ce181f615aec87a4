import type { LogEntry } from '../domain/logs.ts';
import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';
import { foldMetadata } from './token-metadata.ts';

/** A token as it is stored. */
export interface TokenRow {
  tenantId: string;
  id: string;
  type: string;
  container: string;
  /** Sealed. */
  data: Buffer;
  /** Sealed; null where the token has no mask. */
  mask: Buffer | null;
  metadata: Record<string, string>;
  searchIndexes: string[] | null;
  fingerprint: Buffer | null;
  fingerprintExpression: string | null;
  expiresAt: Date | null;
  createdBy: string;
  createdAt: Date;
  modifiedBy: string | null;
  modifiedAt: Date | null;
  /** Counts updates. */
  version: number;
  /** Of data and mask. */
  sealedFormat: number;
  /** Sealed card verification code; null, as what follows, where there is none or its retention has passed. */
  cvc: Buffer | null;
  cvcExpiresAt: Date | null;
  cvcFormat: number | null;
}

export interface SealedCvc {
  sealed: Buffer;
  expiresAt: Date;
}

export interface NewToken extends Omit<
  TokenRow,
  'version' | 'sealedFormat' | 'modifiedBy' | 'modifiedAt' | 'cvc' | 'cvcExpiresAt' | 'cvcFormat'
> {
  searchHashes: Buffer[];
  cvc: SealedCvc | null;
}

/** Those of a TokenRow but data and mask. */
export const OTHER_TOKEN_COLUMNS = `
  t.tenant_id as "tenantId", t.token_id as "id", t.type, t.container, t.metadata,
  t.search_indexes as "searchIndexes", t.fingerprint, t.fingerprint_expression as "fingerprintExpression",
  t.expires_at as "expiresAt", t.created_by as "createdBy", t.created_at as "createdAt",
  t.modified_by as "modifiedBy", t.modified_at as "modifiedAt", t.version, t.sealed_format as "sealedFormat",
  c.cvc, c.expires_at as "cvcExpiresAt", c.sealed_format as "cvcFormat"`;

/** The columns of a TokenRow, of `tokens t` with the cvc that `CVC_JOIN` adds. */
export const TOKEN_COLUMNS = `t.data, t.mask, ${OTHER_TOKEN_COLUMNS}`;

export const CVC_JOIN = `
  left join token_cvcs c on c.tenant_id = t.tenant_id and c.token_id = t.token_id and c.expires_at > now()`;

/** An expired token is gone for every reader at once, though its row is swept later. */
export const UNEXPIRED = '(t.expires_at is null or t.expires_at > now())';

// One look-up for each id, which the limit keeps apart: `= any`, or a plain join with the ids, is planned over the
// whole tenant while the table has no statistics, and such a plan can stay for long.
const FIND: Statement = {
  name: 'find-tokens',
  text: `
    select ${TOKEN_COLUMNS}
    from unnest($2::text[]) as wanted (token_id)
    cross join lateral (
      select * from tokens where tenant_id = $1 and token_id = wanted.token_id limit 1
    ) t ${CVC_JOIN}
    where ${UNEXPIRED}`,
};

/** Those of the tokens that exist, in no particular order. Each id is to be given once. */
export async function findTokens(queryable: Queryable, tenantId: string, ids: readonly string[]): Promise<TokenRow[]> {
  return queryable.run<TokenRow>(FIND, [tenantId, ids]);
}

const FIND_ONE: Statement = {
  name: 'find-token',
  text: `
    select ${TOKEN_COLUMNS}
    from tokens t ${CVC_JOIN}
    where t.tenant_id = $1 and t.token_id = $2 and ${UNEXPIRED}`,
};

export async function findToken(queryable: Queryable, tenantId: string, id: string): Promise<TokenRow | undefined> {
  const [token] = await queryable.run<TokenRow>(FIND_ONE, [tenantId, id]);
  return token;
}

/** What a token's update replaces; what is left out stays. */
export interface TokenChange {
  type: string;
  container: string;
  data: Buffer;
  mask: Buffer | null;
  metadata: Record<string, string>;
  searchIndexes: string[] | null;
  searchHashes: Buffer[];
  fingerprint: Buffer | null;
  fingerprintExpression: string | null;
  expiresAt: Date | null;
  modifiedBy: string;
  modifiedAt: Date;
  /** Absent: the stored one stays as it is. Null: it is removed. */
  cvc?: SealedCvc | null;
}

// Hashes that stay are not deleted and inserted again: the order of both in one statement is not defined.
const UPDATE: Statement = {
  name: 'update-token',
  text: `
    with updated as (
      update tokens t
      set type = $4, container = $5, data = $6, mask = $7, metadata = $8, metadata_folded = $9, search_indexes = $10,
        fingerprint = $11, fingerprint_expression = $12, expires_at = $13, modified_by = $14, modified_at = $15,
        version = version + 1, sealed_format = ${SEALED_FORMAT}
      where t.tenant_id = $1 and t.token_id = $2 and t.version = $3 and t.created_at = $20 and ${UNEXPIRED}
      returning t.tenant_id, t.token_id
    ), unhashed as (
      delete from token_search_hashes h using updated u
      where h.tenant_id = u.tenant_id and h.token_id = u.token_id and h.hash <> all ($16::bytea[])
    ), hashed as (
      insert into token_search_hashes (tenant_id, token_id, hash)
      select u.tenant_id, u.token_id, hash from updated u, (select distinct unnest($16::bytea[]) as hash) hashes
      on conflict do nothing
    ), cleared as (
      delete from token_cvcs c using updated u
      where c.tenant_id = u.tenant_id and c.token_id = u.token_id and $17 = 'clear'
    ), stored as (
      insert into token_cvcs (tenant_id, token_id, cvc, expires_at, sealed_format)
      select u.tenant_id, u.token_id, $18::bytea, $19::timestamptz, ${SEALED_FORMAT} from updated u where $17 = 'set'
      on conflict (tenant_id, token_id) do update
      set cvc = excluded.cvc, expires_at = excluded.expires_at, sealed_format = excluded.sealed_format
    ), logged as (${insertLogEntries(21, 'exists (select from updated)')})
    select token_id from updated`,
};

/**
 * False, with nothing changed or logged, where the token is gone, no longer at `version`, or another one that was
 * created under its id since.
 */
export async function updateToken(
  queryable: Queryable,
  token: Pick<TokenRow, 'tenantId' | 'id' | 'version' | 'createdAt'>,
  change: TokenChange,
  log: LogEntry,
): Promise<boolean> {
  const { cvc } = change;
  const rows = await queryable.run(UPDATE, [
    token.tenantId,
    token.id,
    token.version,
    change.type,
    change.container,
    change.data,
    change.mask,
    JSON.stringify(change.metadata),
    foldMetadata(change.metadata),
    change.searchIndexes === null ? null : JSON.stringify(change.searchIndexes),
    change.fingerprint,
    change.fingerprintExpression,
    change.expiresAt,
    change.modifiedBy,
    change.modifiedAt,
    change.searchHashes,
    cvc === undefined ? 'keep' : cvc === null ? 'clear' : 'set',
    cvc?.sealed ?? null,
    cvc?.expiresAt ?? null,
    token.createdAt,
    ...logParameters([log]),
  ]);
  return rows.length > 0;
}

const DELETE: Statement = {
  name: 'delete-token',
  text: `
    with deleted as (
      delete from tokens t
      where t.tenant_id = $1 and t.token_id = $2 and t.container = $3 and t.created_at = $4 and ${UNEXPIRED}
      returning t.token_id
    ), logged as (${insertLogEntries(5, 'exists (select from deleted)')})
    select token_id from deleted`,
};

/**
 * False, with nothing deleted or logged, where the token is gone, in another container now, or another one that was
 * created under its id since: what was decided about `token` does not hold for that.
 */
export async function deleteToken(
  queryable: Queryable,
  token: Pick<TokenRow, 'tenantId' | 'id' | 'container' | 'createdAt'>,
  log: LogEntry,
): Promise<boolean> {
  const { tenantId, id, container, createdAt } = token;
  return (await queryable.run(DELETE, [tenantId, id, container, createdAt, ...logParameters([log])])).length > 0;
}
