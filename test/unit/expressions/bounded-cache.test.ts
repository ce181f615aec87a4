import { expect } from 'chai';
import { BoundedCache } from '../../../src/expressions/bounded-cache.ts';

describe('BoundedCache', () => {
  it('forgets what was used least recently', () => {
    const cache = new BoundedCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).to.equal(1);
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).to.deep.equal([1, undefined, 3]);
    expect(cache.size).to.equal(2);
  });
});
