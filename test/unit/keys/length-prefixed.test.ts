import { expect } from 'chai';
import fc from 'fast-check';
import { lengthPrefixed } from '../../../src/keys/length-prefixed.ts';

describe('length-prefixed parts', () => {
  it('differ whenever the lists differ', () => {
    const list = fc.array(fc.string({ unit: 'grapheme', maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(list, list, (left, right) => {
        const same = lengthPrefixed(...left).equals(lengthPrefixed(...right));
        return same === (JSON.stringify(left) === JSON.stringify(right));
      }),
    );
  });

  it('count bytes, not characters', () => {
    expect(lengthPrefixed('é', Buffer.from('ab')).toString('hex')).to.equal('00000002c3a9000000026162');
  });
});
