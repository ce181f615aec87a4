import { expect } from 'chai';
import { createApiGate } from '../../../src/operator/api-gate.ts';
import type { ApiGate } from '../../../src/operator/api-gate.ts';
import { createWorkQueue } from '../../../src/operator/queue.ts';
import type { WorkQueue, WorkResult } from '../../../src/operator/queue.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';
import type { ManualClock } from '../../support/operator/manual-clock.ts';

describe('the gate before the internal API', () => {
  let clock: ManualClock;
  let gate: ApiGate;
  let applications: WorkQueue;
  let rules: WorkQueue;
  let isAway: boolean;
  /** Keys that the API was asked with, and when. */
  let calls: { key: string; at: number }[];
  /** Keys that were worked on, in order. */
  let worked: string[];
  /** Keys that the API fails at for their own sake. */
  let poison: Set<string>;
  /** Keys that are done without the API. */
  let silent: Set<string>;

  beforeEach(() => {
    clock = createManualClock();
    isAway = false;
    calls = [];
    worked = [];
    poison = new Set();
    silent = new Set();
    const ask = async (key: string): Promise<WorkResult> => {
      worked.push(key);
      await Promise.resolve();
      if (silent.has(key)) return {};
      calls.push({ key, at: clock.now() });
      if (isAway || poison.has(key)) {
        gate.unanswered();
        return { failed: true };
      }
      gate.answered();
      return {};
    };
    applications = createWorkQueue({ work: ask, clock, workers: 4 });
    rules = createWorkQueue({
      work: async (key) => {
        worked.push(key);
        return {};
      },
      clock,
    });
    gate = createApiGate({
      ...{ probing: [applications], waiting: [rules], clock, logger: silentLogger },
      random: () => 0,
    });
  });
  afterEach(async () => {
    gate.stop();
    await Promise.all([applications.stop(), rules.stop()]);
  });

  const addMany = (count: number) => {
    for (let number = 0; number < count; number += 1) applications.add(`application-${number}`);
  };

  it('closes with the first call that is not answered: what waits is not begun', async () => {
    isAway = true;
    addMany(500);
    await clock.advance(900);
    expect(gate.isOpen).to.be.false;
    expect(calls).to.have.length(4);
    rules.add('rule');
    await clock.advance(0);
    expect(worked).not.to.include('rule');
  });

  it('asks with one key after 1 s, then twice as long each time, up to 30 s', async () => {
    isAway = true;
    addMany(500);
    await clock.advance(200_000);
    const probes = calls.slice(4).map(({ at }) => at / 1_000);
    expect(probes).to.deep.equal([1, 3, 7, 15, 31, 61, 91, 121, 151, 181]);
  });

  it('asks with another key each time, and goes on with all once one is answered', async () => {
    isAway = true;
    addMany(500);
    rules.add('rule');
    await clock.advance(10_000);
    const probes = calls.slice(4).map(({ key }) => key);
    expect(new Set(probes).size).to.equal(probes.length);

    isAway = false;
    await clock.advance(10_000);
    expect(gate.isOpen).to.be.true;
    await Promise.all([applications.idle(), rules.idle()]);
    expect(new Set(calls.map(({ key }) => key)).size).to.equal(500);
    expect(calls.length).to.be.below(500 + 15);
    expect(worked).to.include('rule');
  });

  it('begins with short pauses again when the API goes away the next time', async () => {
    isAway = true;
    addMany(1);
    await clock.advance(100_000);
    isAway = false;
    await clock.advance(30_000);
    isAway = true;
    calls = [];
    const start = clock.now();
    addMany(1);
    await clock.advance(3_000);
    expect(calls.map(({ at }) => at - start)).to.deep.equal([0, 1_000, 3_000]);
  });

  it('asks at once where there is reason to believe that the API is back, but no more than every second', async () => {
    isAway = true;
    addMany(100);
    await clock.advance(20_000);
    const before = calls.length;
    gate.hint();
    await clock.advance(0);
    expect(calls).to.have.length(before + 1);
    for (let times = 0; times < 20; times += 1) {
      gate.hint();
      await clock.advance(50);
    }
    expect(calls).to.have.length(before + 2);

    isAway = false;
    gate.hint();
    await clock.advance(1_000);
    expect(gate.isOpen).to.be.true;
    await applications.idle();
  });

  it('does not let one object that the API fails at keep the others from it', async () => {
    poison.add('application-0');
    addMany(50);
    await clock.advance(60_000);
    expect(new Set(calls.map(({ key }) => key)).size).to.equal(50);
    // Doubling from 5 ms, and a few times when it was let through to ask.
    expect(calls.filter(({ key }) => key === 'application-0').length).to.be.below(25);
  });

  it('takes no key for a word of the API that came to nothing without it', async () => {
    for (let number = 0; number < 20; number += 1) silent.add(`application-${number}`);
    isAway = true;
    addMany(30);
    await clock.advance(1_500);
    expect(gate.isOpen).to.be.false;
    expect(worked).to.include('application-19');
  });

  it('opens where nothing waits, and the next key finds out', async () => {
    isAway = true;
    addMany(1);
    await clock.advance(0);
    await applications.stop();
    await clock.advance(1_000);
    expect(gate.isOpen).to.be.true;
  });

  it('lets nothing through once stopped', async () => {
    isAway = true;
    addMany(10);
    await clock.advance(0);
    gate.stop();
    gate.hint();
    await clock.advance(100_000);
    expect(calls).to.have.length(4);
  });
});
