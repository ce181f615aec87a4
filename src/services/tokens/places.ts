import type { TokenRow } from '../../data/tokens.ts';
import type { SealedPlace } from '../../keys/sealing.ts';

/**
 * What of a token's row its data and mask are sealed for. Updates seal both anew, whatever they change.
 *
 * Version and time of creation keep one of them from being put back alone, and from a later token of the same id. Type,
 * container and expiry decide who sees what and for how long: whoever can write to the database and has a key for one
 * container must not read a token by moving its row there.
 */
export type SealedState = Pick<
  TokenRow,
  'tenantId' | 'id' | 'createdAt' | 'version' | 'type' | 'container' | 'expiresAt'
>;

export function tokenPlace(row: SealedState, column: 'data' | 'mask'): SealedPlace {
  const { tenantId, id, createdAt, version, type, container, expiresAt } = row;
  return {
    ...{ tenantId, table: 'tokens', rowId: id, column },
    version: JSON.stringify([createdAt.getTime(), version, type, container, expiresAt?.getTime() ?? null]),
  };
}

/** A code stays as it is while its token is updated; the end of its retention is its own, and not to be put off. */
export function cvcPlace(
  { tenantId, id, createdAt }: Pick<TokenRow, 'tenantId' | 'id' | 'createdAt'>,
  expiresAt: Date,
): SealedPlace {
  return {
    ...{ tenantId, table: 'token_cvcs', rowId: id, column: 'cvc' },
    version: JSON.stringify([createdAt.getTime(), expiresAt.getTime()]),
  };
}
