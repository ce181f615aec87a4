import { setImmediate } from 'node:timers/promises';
import type { Queryable } from '../../data/database.ts';
import { isWhole, type ListedToken } from '../../data/listed-tokens.ts';
import { findTokens, type TokenRow } from '../../data/tokens.ts';
import type { Token } from '../../domain/tokens.ts';
import type { TokenVault } from './vault.ts';

/** Sealed bytes that are read and opened in one go: some ms of the event loop. */
const SLICE_BYTES = 2 * 2 ** 20;

function* slicesOf(listed: readonly ListedToken[]): Generator<ListedToken[]> {
  let slice: ListedToken[] = [];
  let bytes = 0;
  for (const token of listed) {
    slice.push(token);
    bytes += token.bytes;
    if (bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

/** The rows of one tenant's tokens, without those that are gone since they were listed. */
async function wholeRows(database: Queryable, slice: readonly ListedToken[]): Promise<TokenRow[]> {
  const partial = slice.filter((token) => !isWhole(token));
  if (partial.length === 0) return slice.filter(isWhole);
  const ids = partial.map(({ id }) => id);
  const read = new Map((await findTokens(database, partial[0]!.tenantId, ids)).map((row) => [row.id, row]));
  return slice.map((token) => (isWhole(token) ? token : read.get(token.id))).filter((row) => row !== undefined);
}

/**
 * Opens the tokens of one tenant's page and gives what is made of each, in the order given, and of each whose stored
 * values are damaged; without those of which nothing is made. A page of large tokens, up to 100 MB, neither
 * holds the event loop until the last one is open, nor is there at once, sealed or in plaintext, save for what is kept
 * of it.
 *
 * Large ones are read by themselves, and are then as they have become since they were listed: `show` is to decide anew
 * whether they may be seen.
 */
export async function openInSlices<Shown>(
  { database, vault }: { readonly database: Queryable; readonly vault: TokenVault },
  listed: readonly ListedToken[],
  show: (token: Token) => Shown | undefined,
  showDamaged: (row: TokenRow) => Shown | undefined,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  let isFirst = true;
  for (const slice of slicesOf(listed)) {
    // Others go first.
    if (!isFirst) await setImmediate();
    isFirst = false;
    const rows = await wholeRows(database, slice);
    const opened = await vault.open(rows);
    rows.forEach((row, index) => {
      const token = opened[index];
      const made = token === undefined ? showDamaged(row) : show(token);
      if (made !== undefined) shown.push(made);
    });
  }
  return shown;
}
