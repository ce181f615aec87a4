import { expect } from 'chai';
import { counted, plural } from '../../../src/cli/plural.ts';

describe('plural forms', () => {
  it('are singular for one alone', () => {
    expect([0, 1, 2].map((count) => plural(count, 'waits', 'wait'))).to.deep.equal(['wait', 'waits', 'wait']);
  });

  it('stand behind their number, with an s unless told otherwise', () => {
    expect([0, 1, 2].map((count) => counted(count, 'link'))).to.deep.equal(['0 links', '1 link', '2 links']);
    expect([1, 2].map((count) => counted(count, 'entry', 'entries'))).to.deep.equal(['1 entry', '2 entries']);
  });
});
