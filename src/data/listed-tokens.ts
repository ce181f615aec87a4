import { OTHER_TOKEN_COLUMNS, type TokenRow } from './tokens.ts';

/**
 * A token on a page. Where its sealed bytes are many, they are left out, so that a page of 100 tokens holds few
 * megabytes however large they are; `data` and `mask` are then null, and the row is to be read by itself.
 */
export interface ListedToken extends Omit<TokenRow, 'data'> {
  data: Buffer | null;
  /** Sealed bytes of data and mask, left out or not. */
  bytes: number;
}

/** Sealed bytes that a page is given with the token. */
const GIVEN_BYTES = 16_384;

// Of a value that is stored apart, its length is known without reading it.
const BYTES = 'octet_length(t.data) + coalesce(octet_length(t.mask), 0)';

/** The columns of a ListedToken, of `tokens t` with the cvc that `CVC_JOIN` adds. */
export const LISTED_COLUMNS = `
  ${BYTES} as "bytes",
  case when ${BYTES} <= ${GIVEN_BYTES} then t.data end as "data",
  case when ${BYTES} <= ${GIVEN_BYTES} then t.mask end as "mask",
  ${OTHER_TOKEN_COLUMNS}`;

export function isWhole(token: ListedToken): token is ListedToken & TokenRow {
  return token.data !== null;
}
