import type { NewToken, SealedCvc, TokenRow } from '../../data/tokens.ts';
import { isJsonObject, type Json } from '../../domain/json.ts';
import type { Quotas } from '../../domain/tenants.ts';
import type { Token } from '../../domain/tokens.ts';
import type { KeyedHasher } from '../../keys/keyed-hashes.ts';
import type { SealedPlace, Sealer, ToOpen } from '../../keys/sealing.ts';
import type { TokenDraft } from './draft.ts';

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

/** Where plaintext becomes a row, and a row plaintext. */
export interface TokenVault {
  sealColumns(tenantId: string, id: string, draft: TokenDraft): Promise<SealedColumns>;
  /** Null where the tenant keeps no codes: then there is nothing to store. */
  sealCvc(tenantId: string, id: string, cvc: string, quotas: Quotas): Promise<SealedCvc | null>;
  fingerprint(tenantId: string, draft: TokenDraft): Promise<Buffer | null>;
  /** What stands for a value of search indexes. */
  searchHash(tenantId: string, value: string): Promise<Buffer>;
  /** In the order given. */
  open(rows: readonly TokenRow[]): Promise<Token[]>;
}

function place(tenantId: string, rowId: string, column: 'data' | 'mask'): SealedPlace {
  return { tenantId, table: 'tokens', rowId, column };
}

function cvcPlace(tenantId: string, rowId: string): SealedPlace {
  return { tenantId, table: 'token_cvcs', rowId, column: 'cvc' };
}

function parse(plaintext: Buffer): Json {
  return JSON.parse(plaintext.toString('utf8')) as Json;
}

function toOpen(row: TokenRow): ToOpen[] {
  return [
    { place: place(row.tenantId, row.id, 'data'), sealed: row.data },
    ...(row.mask ? [{ place: place(row.tenantId, row.id, 'mask'), sealed: row.mask }] : []),
    ...(row.cvc ? [{ place: cvcPlace(row.tenantId, row.id), sealed: row.cvc }] : []),
  ];
}

function assemble(row: TokenRow, opened: Iterator<Buffer, undefined>): Token {
  const next = () => opened.next().value!;
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
    async sealColumns(tenantId, id, draft) {
      const plaintexts = [
        { place: place(tenantId, id, 'data'), plaintext: JSON.stringify(draft.data) },
        ...(draft.mask === null ? [] : [{ place: place(tenantId, id, 'mask'), plaintext: JSON.stringify(draft.mask) }]),
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
    async sealCvc(tenantId, id, cvc, quotas) {
      if (quotas.cvcRetentionSeconds === 0) return null;
      // Taken first: the key is destroyed when what it seals now is past retention, and the code must be gone by then.
      const expiresAt = new Date(Date.now() + quotas.cvcRetentionSeconds * 1000);
      return { sealed: await sealer.sealCvc(cvcPlace(tenantId, id), cvc, quotas.cvcRetentionSeconds), expiresAt };
    },
    async open(rows) {
      const opened = (await sealer.openMany(rows.flatMap(toOpen))).values();
      return rows.map((row) => assemble(row, opened as Iterator<Buffer, undefined>));
    },
  };
}
