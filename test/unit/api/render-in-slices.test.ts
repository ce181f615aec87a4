import { expect } from 'chai';
import { renderInSlices } from '../../../src/api/render-in-slices.ts';

describe('rendering a page', () => {
  const pagination = { page_size: 20, next: 'é' };

  for (const data of [[], [{ id: 1 }], [{ id: '"\u2028' }, { data: null }, {}]]) {
    it(`gives one text where it is short: ${data.length} items`, async () => {
      expect(await renderInSlices({ pagination, data })).to.equal(JSON.stringify({ pagination, data }));
    });
  }

  it('gives pieces where it is long, which together are the text, and lets others have the event loop', async () => {
    const data = Array.from({ length: 10 }, (_, id) => ({ id, data: 'é€😀'.repeat(100_000) }));
    let turns = 0;
    let over = false;
    const other = (): void => {
      turns++;
      if (!over) setImmediate(other);
    };
    setImmediate(other);
    const pieces = (await renderInSlices({ pagination, data })) as Buffer[];
    over = true;
    expect(Buffer.concat(pieces).toString()).to.equal(JSON.stringify({ pagination, data }));
    expect(pieces.length).to.be.greaterThan(3);
    expect(turns).to.be.at.least(pieces.length - 2);
  });
});
