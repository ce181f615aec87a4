import { expect } from 'chai';
import { NO_LINK } from '../../../../src/services/audit-chain/canonical.ts';
import { type Chain, createChain, hourOf } from '../../../../src/services/audit-chain/chain.ts';

const AT = new Date('2026-01-02T03:04:05.678Z');
const HOUR = new Date('2026-01-02T03:00:00.000Z');
const NEXT_HOUR = new Date('2026-01-02T04:00:00.000Z');

function append(chain: Chain, linkedAt: Date) {
  const link = chain.next({ linkedAt, oldest: HOUR, witnessed: [], entries: [] });
  chain.append(link);
  return link;
}

describe('the chain of one writer', () => {
  it('binds each link to the one before', () => {
    const chain = createChain();
    const first = append(chain, AT);
    const second = append(chain, AT);
    expect(first).to.include({ n: 1, previous: NO_LINK });
    expect(second).to.include({ n: 2, previous: first.hash });
    expect(second.hour).to.deep.equal(HOUR);
    expect(chain.head).to.include({ n: 2, hash: second.hash });
  });

  it('has a link in it only once it is told so', () => {
    const chain = createChain();
    chain.next({ linkedAt: AT, oldest: HOUR, witnessed: [], entries: [] });
    expect(chain.head).to.equal(undefined);
    expect(append(chain, AT).n).to.equal(1);
  });

  it('begins anew with each hour, stating how the hour before ended', () => {
    const chain = createChain();
    const last = append(chain, AT);
    const first = append(chain, NEXT_HOUR);
    expect(first).to.include({ n: 1, previous: NO_LINK });
    const { writer } = chain;
    expect(first.witnessed).to.deep.equal([{ writer, hour: HOUR, n: 1, hash: last.hash }]);
    expect(append(chain, NEXT_HOUR).witnessed).to.deep.equal([]);
  });

  it('stays in its hour where the clock is set back', () => {
    const chain = createChain();
    append(chain, NEXT_HOUR);
    const link = append(chain, AT);
    expect(link.hour).to.deep.equal(NEXT_HOUR);
    expect(link.n).to.equal(2);
  });

  it('tells the newest head of each hour, once', () => {
    const chain = createChain();
    append(chain, AT);
    const last = append(chain, AT);
    const first = append(chain, NEXT_HOUR);
    expect(chain.takeHeads().map(({ hash }) => hash)).to.deep.equal([last.hash, first.hash]);
    expect(chain.takeHeads()).to.deep.equal([]);
  });

  it('has hours of universal time', () => {
    expect(hourOf(AT)).to.deep.equal(HOUR);
    expect(hourOf(HOUR)).to.deep.equal(HOUR);
  });
});
