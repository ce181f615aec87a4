import { expect } from 'chai';
import { assert, double, integer, property, tuple, array } from 'fast-check';
import { ConcurrencyWindow } from '../../../src/reactors/concurrency-window.ts';

/** The plain way: every change is kept, and the area under them is added up. */
function areaUnder(changes: { level: number; at: number }[], from: number, to: number): number {
  return changes.reduce((area, { level, at }, index) => {
    const end = changes[index + 1]?.at ?? Infinity;
    return area + level * Math.max(Math.min(end, to) - Math.max(at, from), 0);
  }, 0);
}

describe('the average of invocations at a time', () => {
  it('counts a burst out of the blue in full at once', () => {
    const window = new ConcurrencyWindow();
    window.set(40, 5_000);
    expect(window.average(5_000)).to.deep.equal({ stable: 40, panic: 40 });
    expect(window.average(5_300).panic).to.be.closeTo(40, 1e-6);
  });

  it('is nothing before there was anything, from the first millisecond of a clock on', () => {
    expect(new ConcurrencyWindow().average(0)).to.deep.equal({ stable: 0, panic: 0 });
    expect(new ConcurrencyWindow().average(30_000)).to.deep.equal({ stable: 0, panic: 0 });
  });

  it('weighs by time, not by how often it is told', () => {
    const window = new ConcurrencyWindow();
    for (let at = 0; at < 60_000; at += 1_000) {
      window.set(1, at);
      window.set(0, at + 100);
    }
    const { stable, panic } = window.average(60_000);
    expect(stable).to.be.closeTo(0.1, 1e-9);
    expect(panic).to.be.closeTo(0.1, 1e-9);
  });

  it('follows a step within 6 s in one window, and within 60 s in the other', () => {
    const window = new ConcurrencyWindow();
    window.set(1, 0);
    window.set(10, 60_000);
    expect(window.average(63_000)).to.deep.equal({ stable: (57 + 30) / 60, panic: 5.5 });
    expect(window.average(66_000).panic).to.equal(10);
    expect(window.average(120_000).stable).to.equal(10);
  });

  it('forgets after 60 s, and begins anew then', () => {
    const window = new ConcurrencyWindow();
    window.set(5, 0);
    window.set(0, 10_000);
    expect(window.average(69_999).stable).to.be.above(0);
    expect(window.average(70_000)).to.deep.equal({ stable: 0, panic: 0 });
    window.set(8, 1_000_500);
    expect(window.average(1_001_500).stable).to.be.closeTo(8, 1e-9);
  });

  it('is the area under the invocations, whatever they do', () => {
    const steps = array(tuple(integer({ min: 0, max: 50 }), double({ min: 0.5, max: 9_000, noNaN: true })), {
      minLength: 1,
      maxLength: 60,
    });
    assert(
      property(steps, (moves) => {
        const window = new ConcurrencyWindow();
        const changes: { level: number; at: number }[] = [{ level: 1, at: 250 }];
        window.set(1, 250);
        let at = 250;
        for (const [level, lengthMs] of moves) {
          // Never quiet for a whole window: that begins anew.
          at += lengthMs;
          window.set(level + 1, at);
          changes.push({ level: level + 1, at });
        }
        at += 700;
        const { stable, panic } = window.average(at);
        for (const [seconds, found] of [
          [60, stable],
          [6, panic],
        ] as const) {
          const from = Math.max(at - seconds * 1_000, 250);
          const expected = areaUnder(changes, from, at) / (at - from);
          // The oldest second is taken to be even: at most that second's worth is amiss.
          const slack = (51 * 1_000) / (at - from);
          expect(found).to.be.closeTo(expected, at - 250 > seconds * 1_000 ? slack : 1e-6);
        }
      }),
    );
  });
});
