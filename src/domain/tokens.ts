import type { Json } from './json.ts';

/** A token with its data in plaintext: what exists in memory between opening a row and presenting it. */
export interface Token {
  tenantId: string;
  id: string;
  type: string;
  container: string;
  data: Json;
  /** Template evaluated at read time; null: the token is shown redacted where a mask is asked for. */
  mask: Json;
  metadata: Record<string, string>;
  searchIndexes: string[] | null;
  /** base64url of an HMAC; null where there is none: by the tenant's settings, or of nothing. */
  fingerprint: string | null;
  fingerprintExpression: string | null;
  expiresAt: Date | null;
  createdBy: string;
  createdAt: Date;
  modifiedBy: string | null;
  modifiedAt: Date | null;
}

/** Limits of one token (choices, section 3). */
export const TOKEN_LIMITS = {
  idLength: { min: 3, max: 400 },
  containers: 1,
  metadataEntries: 50,
  metadataKeyLength: 50,
  metadataValueLength: 500,
  searchIndexes: 10,
  expressionLength: 400,
} as const;

// Characters that would make an id ambiguous in a path, a query or an expression.
const FORBIDDEN_IN_ID = /[#/\\+?[\]|&=%<>{}^]/;

/** What is wrong with an id that a caller chose; undefined when nothing is. */
export function faultOfTokenId(id: string): string | undefined {
  const { min, max } = TOKEN_LIMITS.idLength;
  if (id.length < min || id.length > max) return `must have ${min} to ${max} characters`;
  if (/[\u0000-\u001f\u007f]/.test(id) || !id.isWellFormed()) return 'must not contain control characters';
  if (id !== id.trim()) return 'must not begin or end with white space';
  if (FORBIDDEN_IN_ID.test(id)) return 'must not contain any of # / \\ + ? [ ] | & = % < > { } ^';
  return undefined;
}
