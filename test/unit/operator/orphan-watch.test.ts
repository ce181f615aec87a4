import { expect } from 'chai';
import { createOrphanWatch } from '../../../src/operator/orphan-watch.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';
import type { ManualClock } from '../../support/operator/manual-clock.ts';

const MINUTE = 60_000;

describe('reactors that run and that the API does not list', () => {
  let clock: ManualClock;
  let judge: (look?: { missing?: string[]; isListEmpty?: boolean; told?: string[] }) => string[];

  beforeEach(() => {
    clock = createManualClock(1_000);
    const watch = createOrphanWatch(clock, silentLogger);
    judge = ({ missing = ['a'], isListEmpty = false, told = [] } = {}) => [
      ...watch.judge({ missing, isListEmpty, told: new Set(told) }),
    ];
  });

  it('go at once where the API told that they changed, and stay judged so', () => {
    expect(judge({ missing: ['a', 'b'], told: ['a', 'c'] })).to.deep.equal(['a']);
    expect(judge({ missing: ['a', 'b'] })).to.deep.equal(['a']);
  });

  it('go where a look five minutes later finds the same, and not before', async () => {
    expect(judge()).to.deep.equal([]);
    await clock.advance(5 * MINUTE - 1);
    expect(judge()).to.deep.equal([]);
    await clock.advance(1);
    expect(judge()).to.deep.equal(['a']);
  });

  it('never go by one look alone, however late it comes', async () => {
    await clock.advance(60 * MINUTE);
    expect(judge()).to.deep.equal([]);
  });

  it('begin anew where they were listed in between', async () => {
    judge();
    await clock.advance(4 * MINUTE);
    judge({ missing: [] });
    await clock.advance(4 * MINUTE);
    expect(judge()).to.deep.equal([]);
    await clock.advance(4 * MINUTE);
    expect(judge()).to.deep.equal([]);
    await clock.advance(MINUTE);
    expect(judge()).to.deep.equal(['a']);
  });

  it('stay for a day where it lists none at all', async () => {
    judge({ isListEmpty: true });
    await clock.advance(24 * 60 * MINUTE - 1);
    expect(judge({ isListEmpty: true })).to.deep.equal([]);
    await clock.advance(1);
    expect(judge({ isListEmpty: true })).to.deep.equal(['a']);
  });

  it('are not taken for deleted because one reactor is made where there were none', async () => {
    judge({ isListEmpty: true });
    await clock.advance(60 * MINUTE);
    expect(judge({ isListEmpty: false })).to.deep.equal([]);
    await clock.advance(5 * MINUTE);
    expect(judge({ isListEmpty: false })).to.deep.equal(['a']);
  });

  it('go where the last of all is deleted and the API told so', () => {
    expect(judge({ isListEmpty: true, told: ['a'] })).to.deep.equal(['a']);
  });
});
