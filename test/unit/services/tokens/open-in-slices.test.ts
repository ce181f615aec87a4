import { expect } from 'chai';
import type { Queryable } from '../../../../src/data/database.ts';
import type { ListedToken } from '../../../../src/data/listed-tokens.ts';
import type { TokenRow } from '../../../../src/data/tokens.ts';
import type { Token } from '../../../../src/domain/tokens.ts';
import { openInSlices } from '../../../../src/services/tokens/open-in-slices.ts';
import type { TokenVault } from '../../../../src/services/tokens/vault.ts';

const MEGABYTE = 2 ** 20;

const NO_DATABASE = {
  run: () => Promise.reject(new Error('nothing is to be read')),
};

/** A listed token of so many sealed bytes, as far as slices look at it. */
const listed = (id: number, bytes: number): ListedToken => ({ id: String(id), data: Buffer.alloc(0), bytes }) as never;
/** One whose sealed bytes were left out. */
const left = (id: number, bytes: number): ListedToken => ({ ...listed(id, bytes), data: null });

/** A vault that opens rows into tokens of the same id, and remembers how many it was given at a time. */
function countingVault(): { vault: TokenVault; opened: number[] } {
  const opened: number[] = [];
  const open = (rows: readonly TokenRow[]): Promise<Token[]> => {
    opened.push(rows.length);
    return Promise.resolve(rows.map(({ id }) => ({ id }) as Token));
  };
  return { vault: { open } as TokenVault, opened };
}

/** A database that has these tokens, in no particular order, and remembers how many were read at a time. */
function readingDatabase(ids: readonly number[]): { database: Queryable; read: number[] } {
  const read: number[] = [];
  const has = ids.map(String);
  const run = <Row>(_: unknown, [, wanted]: readonly unknown[] = []): Promise<Row[]> => {
    read.push((wanted as string[]).length);
    const found = (wanted as string[]).filter((id) => has.includes(id)).reverse();
    return Promise.resolve(found.map((id) => ({ id, data: Buffer.alloc(0) }) as Row));
  };
  return { database: { run }, read };
}

const noneDamaged = () => expect.fail('no token is damaged');

describe('opening in slices', () => {
  for (const [what, sizes, slices] of [
    ['nothing', [], []],
    ['small tokens at once', Array<number>(100).fill(1_000), [100]],
    ['large tokens few at a time', Array<number>(7).fill(MEGABYTE), [2, 2, 2, 1]],
    ['one that is larger than a slice by itself', [5 * MEGABYTE, 10, 10], [1, 2]],
  ] as const) {
    it(`opens ${what}, in order`, async () => {
      const { vault, opened } = countingVault();
      const page = sizes.map((bytes, index) => listed(index, bytes));
      const shown = await openInSlices({ database: NO_DATABASE, vault }, page, ({ id }) => Number(id), noneDamaged);
      expect(shown).to.deep.equal(sizes.map((_, index) => index));
      expect(opened).to.deep.equal(slices);
    });
  }

  it('reads what was left out slice by slice, and without what is gone', async () => {
    const { vault, opened } = countingVault();
    const { database, read } = readingDatabase([0, 1, 3, 5]);
    const page = [
      ...[left(0, MEGABYTE), left(1, MEGABYTE), left(2, 20_000), listed(3, 10), left(4, MEGABYTE)],
      ...[left(5, 2 * MEGABYTE), listed(6, 10)],
    ];
    const shown = await openInSlices({ database, vault }, page, ({ id }) => Number(id), noneDamaged);
    expect(shown).to.deep.equal([0, 1, 3, 5, 6]);
    expect(read).to.deep.equal([2, 3]);
    expect(opened).to.deep.equal([2, 2, 1]);
  });

  it('keeps the place of what is damaged', async () => {
    const open = (rows: readonly TokenRow[]) =>
      Promise.resolve(rows.map(({ id }) => (id === '1' ? undefined : ({ id } as Token))));
    const parts = { database: NO_DATABASE, vault: { open } as TokenVault };
    const page = [listed(0, 10), listed(1, 10), listed(2, 10)];
    const shown = await openInSlices(
      parts,
      page,
      ({ id }) => id,
      ({ id }) => `damaged ${id}`,
    );
    expect(shown).to.deep.equal(['0', 'damaged 1', '2']);
  });

  it('leaves out of what nothing is made', async () => {
    const page = [listed(0, 10), listed(1, 10)];
    const even = ({ id }: Token) => (Number(id) % 2 === 0 ? id : undefined);
    const parts = { database: NO_DATABASE, vault: countingVault().vault };
    expect(await openInSlices(parts, page, even, noneDamaged)).to.deep.equal(['0']);
  });

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
      { database: NO_DATABASE, vault },
      Array.from({ length: 6 }, (_, index) => listed(index, 2 * MEGABYTE)),
      () => undefined,
      noneDamaged,
    );
    over = true;
    expect(turns).to.be.at.least(4);
  });
});
