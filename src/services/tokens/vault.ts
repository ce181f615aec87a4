import type { NewToken, SealedCvc, TokenRow } from '../../data/tokens.ts';
import { isJsonObject, type Json } from '../../domain/json.ts';
import type { Quotas } from '../../domain/tenants.ts';
import type { Token } from '../../domain/tokens.ts';
import type { KeyedHasher } from '../../keys/keyed-hashes.ts';
import type { Sealer, SealedValue } from '../../keys/sealing.ts';
import type { TokenDraft } from './draft.ts';
import { cvcPlace, tokenPlace } from './places.ts';

/** The columns of a token that hold what its draft asks for, sealed and hashed. */
export type SealedColumns = Pick<
  NewToken,
  | 'type'
  | 'container'
  | 'data'
  | 'mask'
  | 'metadata'
  | 'searchIndexes'
  | 'searchHashes'
  | 'fingerprint'
  | 'fingerprintExpression'
  | 'expiresAt'
>;

/** The row that is written: the very token of those that had its id, and its state. */
export type RowIdentity = Pick<TokenRow, 'tenantId' | 'id' | 'createdAt' | 'version'>;

/** Where plaintext becomes a row, and a row plaintext. */
export interface TokenVault {
  sealColumns(row: RowIdentity, draft: TokenDraft): Promise<SealedColumns>;
  /** Null where the tenant keeps no codes: then there is nothing to store. */
  sealCvc(row: Omit<RowIdentity, 'version'>, cvc: string, quotas: Quotas): Promise<SealedCvc | null>;
  fingerprint(tenantId: string, draft: TokenDraft): Promise<Buffer | null>;
  /** What stands for a value of search indexes. */
  searchHash(tenantId: string, value: string): Promise<Buffer>;
  /** In the order given: undefined for a token of which what is stored is damaged, which spoils no other. */
  open(rows: readonly TokenRow[]): Promise<(Token | undefined)[]>;
}

function parse(plaintext: Buffer): Json {
  return JSON.parse(plaintext.toString('utf8')) as Json;
}

function valuesOf(row: TokenRow): SealedValue[] {
  const { mask, cvc, sealedFormat: format } = row;
  return [
    { place: tokenPlace(row, 'data'), format, sealed: row.data },
    ...(mask ? [{ place: tokenPlace(row, 'mask'), format, sealed: mask }] : []),
    ...(cvc ? [{ place: cvcPlace(row, row.cvcExpiresAt!), format: row.cvcFormat!, sealed: cvc }] : []),
  ];
}

/** The token whose values, in the order of `valuesOf`, were opened; undefined where any is damaged. */
function assemble(row: TokenRow, plaintexts: readonly (Buffer | undefined)[]): Token | undefined {
  if (plaintexts.includes(undefined)) return undefined;
  const rest = (plaintexts as Buffer[]).values();
  const next = () => rest.next().value!;
  const sealedData = parse(next());
  const mask = row.mask ? parse(next()) : null;
  const cvc = row.cvc ? next().toString('utf8') : undefined;
  const data = cvc !== undefined && isJsonObject(sealedData) ? { ...sealedData, cvc } : sealedData;
  const { tenantId, id, type, container, metadata, searchIndexes, fingerprintExpression, expiresAt } = row;
  const { createdBy, createdAt, modifiedBy, modifiedAt } = row;
  return {
    ...{ tenantId, id, type, container, data, mask, metadata, searchIndexes, fingerprintExpression, expiresAt },
    ...{ createdBy, createdAt, modifiedBy, modifiedAt },
    fingerprint: row.fingerprint === null ? null : presentFingerprint(row.fingerprint),
  };
}

/** A fingerprint as callers see it. */
export function presentFingerprint(fingerprint: Buffer): string {
  return fingerprint.toString('base64url');
}

/** The stored form of a fingerprint that a caller sent; undefined where it cannot be one. */
export function parseFingerprint(text: string): Buffer | undefined {
  const fingerprint = Buffer.from(text, 'base64url');
  return fingerprint.length === 32 && presentFingerprint(fingerprint) === text ? fingerprint : undefined;
}

export function createTokenVault(sealer: Sealer, hasher: KeyedHasher): TokenVault {
  async function fingerprint(tenantId: string, draft: TokenDraft): Promise<Buffer | null> {
    if (draft.fingerprintValue === null) return null;
    return hasher.fingerprint(tenantId, draft.type, draft.fingerprintValue);
  }

  const searchHash = (tenantId: string, value: string) => hasher.searchHash(tenantId, value);

  return {
    fingerprint,
    searchHash,
    async sealColumns(row, draft) {
      const { tenantId, id, createdAt, version } = row;
      // The id is the row's: that of a draft is the first one that is tried.
      const state = { ...draft, tenantId, id, createdAt, version };
      const plaintexts = [
        { place: tokenPlace(state, 'data'), plaintext: JSON.stringify(draft.data) },
        ...(draft.mask === null ? [] : [{ place: tokenPlace(state, 'mask'), plaintext: JSON.stringify(draft.mask) }]),
      ];
      const [[data, mask = null], searchHashes, hashed] = await Promise.all([
        sealer.sealMany(plaintexts),
        Promise.all(draft.searchValues.map((value) => searchHash(tenantId, value))),
        fingerprint(tenantId, draft),
      ]);
      const { type, container, metadata, searchIndexes, fingerprintExpression, expiresAt } = draft;
      return {
        ...{ type, container, metadata, searchIndexes, fingerprintExpression, expiresAt },
        ...{ data: data!, mask, searchHashes, fingerprint: hashed },
      };
    },
    async sealCvc(row, cvc, quotas) {
      if (quotas.cvcRetentionSeconds === 0) return null;
      // Taken first: the key is destroyed when what it seals now is past retention, and the code must be gone by then.
      const expiresAt = new Date(Date.now() + quotas.cvcRetentionSeconds * 1000);
      return { sealed: await sealer.sealCvc(cvcPlace(row, expiresAt), cvc, quotas.cvcRetentionSeconds), expiresAt };
    },
    async open(rows) {
      const values = rows.map(valuesOf);
      const opened = await sealer.openMany(values.flat());
      return rows.map((row, index) => assemble(row, opened.splice(0, values[index]!.length)));
    },
  };
}
