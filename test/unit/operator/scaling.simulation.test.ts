import { expect } from 'chai';
import { array, assert, integer, property, record } from 'fast-check';
import { simulate } from '../../support/scaling/simulation.ts';
import type { Sample } from '../../support/scaling/simulation.ts';
import { TRACES } from '../../support/scaling/traces.ts';

const run = (name: string) => simulate(TRACES[name]!);
const between = (samples: Sample[], from: number, to: number) =>
  samples.filter(({ second }) => second >= from && second < to);
const longestWait = (samples: Sample[]) => Math.max(...samples.map(({ longestWaitMs }) => longestWaitMs));
const changes = (samples: Sample[]) =>
  samples.filter(({ desired }, index) => index > 0 && samples[index - 1]!.desired !== desired).length;
const rejected = (samples: Sample[]) => samples.reduce((sum, sample) => sum + sample.rejected, 0);

/** A small generator whose numbers follow from its seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('scaling over a load', function () {
  this.timeout(60_000);

  it('lets nobody wait once a step of load is taken up, and refuses nobody', () => {
    const samples = run('step');
    expect(longestWait(between(samples, 30, 40))).to.be.within(1_000, 4_000);
    expect(longestWait(between(samples, 40, 330))).to.equal(0);
    expect(rejected(samples)).to.equal(0);
    expect(samples.at(-1)).to.include({ desired: 1, ready: 1 });
  });

  it('stays as it is under a load that does', () => {
    expect(changes(between(run('step'), 160, 330))).to.equal(0);
  });

  it('holds a burst until there are instances, refuses nothing of it, and keeps them for a minute', () => {
    const samples = run('burst');
    expect(rejected(samples)).to.equal(0);
    expect(longestWait(samples)).to.be.below(4_000);
    const peak = Math.max(...samples.map(({ desired }) => desired));
    expect(between(samples, 105, 155).every(({ desired }) => desired === peak)).to.equal(true);
    expect(samples.at(-1)!.desired).to.be.below(5);
  });

  it('follows a load up and down with no call that waits for a second', () => {
    const samples = run('sine');
    expect(longestWait(between(samples, 20, 900))).to.be.below(1_000);
    const valley = between(samples, 320, 335).map(({ desired }) => desired);
    const peak = between(samples, 460, 475).map(({ desired }) => desired);
    expect(Math.min(...peak)).to.be.above(3 * Math.min(...valley));
  });

  it('goes to none after idleSeconds without a call, not before, and comes back for the next one', () => {
    const samples = run('idle');
    // The last call comes at 69 s.
    expect(between(samples, 72, 189).every(({ desired }) => desired >= 1)).to.equal(true);
    expect(between(samples, 200, 310).every(({ desired }) => desired === 0)).to.equal(true);
    expect(longestWait(between(samples, 310, 330))).to.be.within(2_000, 2_500);
    expect(rejected(samples)).to.equal(0);
  });

  it('does not flap under a steady load that comes by chance', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const samples = simulate({ ...TRACES['step']!, load: () => 20, lengthSeconds: 600, random: seeded(seed) });
      const steady = between(samples, 120, 600);
      const counts = steady.map(({ desired }) => desired);
      expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(3);
      expect(changes(steady)).to.be.at.most(48);
      expect(longestWait(steady)).to.be.below(1_000);
    }
  });

  it('keeps to its bounds whatever comes', () => {
    const loads = record({
      seed: integer(),
      rates: array(integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 8 }),
      minReplicas: integer({ min: 0, max: 3 }),
      extra: integer({ min: 1, max: 12 }),
      concurrency: integer({ min: 1, max: 4 }),
    });
    assert(
      property(loads, ({ seed, rates, minReplicas, extra, concurrency }) => {
        const scaling = { minReplicas, maxReplicas: minReplicas + extra, concurrency, idleSeconds: 30 };
        const loaded = rates.length * 15;
        // Held, run to their end, idle, and half as many with each step.
        const lengthSeconds = loaded + 20 + 30 + 15;
        const samples = simulate({
          ...{ scaling, lengthSeconds, serviceMs: 150, startMs: 1_000, random: seeded(seed) },
          load: (second) => (second < loaded ? rates[Math.floor(second / 15)]! : 0),
        });
        let before = minReplicas;
        for (const { desired } of samples) {
          expect(desired).to.be.within(minReplicas, scaling.maxReplicas);
          expect(desired).to.be.at.least(Math.floor(before / 2));
          before = desired;
        }
        expect(samples.at(-1)?.desired).to.equal(minReplicas);
      }),
      { numRuns: 40 },
    );
  });
});
