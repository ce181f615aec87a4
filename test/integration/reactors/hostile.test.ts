import { expect } from 'chai';
import { createReactorHarness } from '../../support/reactors.ts';
import type { ReactorHarness } from '../../support/reactors.ts';
import { HOSTILE_CORPUS } from '../../support/reactors/hostile-corpus.ts';
import { INSTANCE_MB, SECRET, WALL_MS, rawOf, runHostileCorpus } from '../../support/reactors/hostile-run.ts';
import type { HostileRun } from '../../support/reactors/hostile-run.ts';
import { hostileTable } from '../../support/reactors/hostile-table.ts';

describe('the corpus of hostile reactors', function () {
  this.timeout(300_000);
  let reactors: ReactorHarness;
  let run: HostileRun;

  before(async () => {
    // Instances are replaced a hundred times, on machines that may be slow.
    reactors = createReactorHarness({ maxWaitMs: 60_000 });
    run = await runHostileCorpus(reactors);
  });
  after(async () => {
    await reactors.stop();
    if (process.env['TOKENKEEP_TEST_HOSTILE_TABLE']) process.stderr.write(hostileTable(run));
  });

  it('is of at least sixty, no two of one name', () => {
    const names = Object.values(HOSTILE_CORPUS).flatMap((all) => all.map(({ name }) => name));
    expect(names).to.have.length.above(60);
    expect(new Set(names).size).to.equal(names.length);
    expect(run.observations).to.have.length(names.length);
  });

  for (const [group, all] of Object.entries(HOSTILE_CORPUS)) {
    describe(group, () => {
      for (const reactor of all) {
        it(`is held: ${reactor.name}`, () => {
          const { outcome, ms, next } = run.observations.find((observation) => observation.reactor === reactor)!;
          expect(outcome.kind).to.be.oneOf(reactor.kinds);
          if (reactor.raw !== undefined && outcome.kind === 'returned')
            expect(rawOf(outcome)).to.deep.equal(reactor.raw);
          expect(ms, 'ms until its answer').to.be.below(WALL_MS + 1_000);
          expect(next, 'what the next request sees').to.deep.equal(run.untouched);
          expect(JSON.stringify(next)).not.to.contain(SECRET);
        });
      }
    });
  }

  it('shows what the next request would see, if it saw anything', async () => {
    // The look at the world is worth something only if a change of it shows.
    expect(rawOf(run.untouched)).to.have.nested.property('left[0]', 'undefined');
    expect(rawOf(run.untouched))
      .to.have.property('hash')
      .that.matches(/^[0-9a-f]{64}$/);
  });

  it('fails no request of a reactor beside it', () => {
    expect(run.good.failures).to.deep.equal([]);
    expect(run.good.answers).to.be.above(run.observations.length);
  });

  it('ends no supervisor, and grows none', () => {
    expect(run.supervisorsLost).to.equal(0);
    expect(run.supervisorPeakMb).to.be.below(INSTANCE_MB);
  });

  it('takes no more memory than the instance has', () => {
    expect(run.peakMb).to.be.within(50, INSTANCE_MB);
    expect(run.instanceMb).to.be.within(50, INSTANCE_MB);
  });
});
