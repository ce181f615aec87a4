import { expect } from 'chai';
import { isOlder } from '../../../src/operator/resource-version.ts';

describe('resource versions', () => {
  it('are compared as numbers of any length', () => {
    expect(isOlder('99', '100')).to.equal(true);
    expect(isOlder('100', '99')).to.equal(false);
    expect(isOlder('7', '7')).to.equal(false);
    expect(isOlder('18446744073709551615', '18446744073709551616')).to.equal(true);
  });

  it('are not told apart where one is absent or no number', () => {
    expect(isOlder(undefined, '1')).to.equal(false);
    expect(isOlder('1', undefined)).to.equal(false);
    expect(isOlder('a', 'b')).to.equal(false);
    expect(isOlder('01', '2')).to.equal(false);
  });
});
