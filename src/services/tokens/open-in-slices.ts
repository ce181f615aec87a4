import { setImmediate } from 'node:timers/promises';
import type { TokenRow } from '../../data/tokens.ts';
import type { Token } from '../../domain/tokens.ts';
import type { TokenVault } from './vault.ts';

/** Sealed bytes that are opened in one go: some ms of the event loop. */
const SLICE_BYTES = 2 * 2 ** 20;

function* slicesOf(rows: readonly TokenRow[]): Generator<TokenRow[]> {
  let slice: TokenRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    slice.push(row);
    bytes += row.data.length + (row.mask?.length ?? 0);
    if (bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

/**
 * Opens rows and gives what is made of each token, in the order given. A page of large tokens, up to 100 MB, neither
 * holds the event loop until the last one is open, nor is there at once in plaintext save for what is kept of it.
 */
export async function openInSlices<Shown>(
  vault: TokenVault,
  rows: readonly TokenRow[],
  show: (token: Token) => Shown,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const slice of slicesOf(rows)) {
    // Others go first.
    if (shown.length > 0) await setImmediate();
    for (const token of await vault.open(slice)) shown.push(show(token));
  }
  return shown;
}
