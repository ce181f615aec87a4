import { expect } from 'chai';
import type { TokenRow } from '../../../../src/data/tokens.ts';
import type { Token } from '../../../../src/domain/tokens.ts';
import { openInSlices } from '../../../../src/services/tokens/open-in-slices.ts';
import type { TokenVault } from '../../../../src/services/tokens/vault.ts';

const MEGABYTE = 2 ** 20;

/** A row of so many sealed bytes, as far as slices look at it. */
const row = (id: number, bytes: number): TokenRow =>
  ({ id: String(id), data: Buffer.alloc(bytes), mask: null }) as never;

/** A vault that opens rows into tokens of the same id, and remembers how many it was given at a time. */
function countingVault(): { vault: TokenVault; opened: number[] } {
  const opened: number[] = [];
  const open = (rows: readonly TokenRow[]): Promise<Token[]> => {
    opened.push(rows.length);
    return Promise.resolve(rows.map(({ id }) => ({ id }) as Token));
  };
  return { vault: { open } as TokenVault, opened };
}

describe('opening in slices', () => {
  for (const [what, sizes, slices] of [
    ['nothing', [], []],
    ['small tokens at once', Array<number>(100).fill(1_000), [100]],
    ['large tokens few at a time', Array<number>(7).fill(MEGABYTE), [2, 2, 2, 1]],
    ['one that is larger than a slice by itself', [5 * MEGABYTE, 10, 10], [1, 2]],
  ] as const) {
    it(`opens ${what}, in order`, async () => {
      const { vault, opened } = countingVault();
      const rows = sizes.map((bytes, index) => row(index, bytes));
      expect(await openInSlices(vault, rows, ({ id }) => Number(id))).to.deep.equal(sizes.map((_, index) => index));
      expect(opened).to.deep.equal(slices);
    });
  }

  it('lets others have the event loop in between', async () => {
    const { vault } = countingVault();
    let turns = 0;
    let over = false;
    const other = (): void => {
      turns++;
      if (!over) setImmediate(other);
    };
    setImmediate(other);
    await openInSlices(
      vault,
      Array.from({ length: 6 }, (_, index) => row(index, 2 * MEGABYTE)),
      () => undefined,
    );
    over = true;
    expect(turns).to.be.at.least(4);
  });
});
