import { expect } from 'chai';
import { DELIVERY_ATTEMPTS, readRetryAfter, waitAfter } from '../../../src/domain/delivery-schedule.ts';

const HOUR = 3600_000;

/** The waits of a delivery that always fails, by a clock that only they move. */
function waits(random: number, retryAfterMs?: number): number[] {
  const all: number[] = [];
  for (let attempt = 1; ; attempt++) {
    const wait = waitAfter({ attempt, random, retryAfterMs });
    if (wait === undefined) return all;
    all.push(wait);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('the schedule of deliveries', () => {
  it('is of ten attempts over about two and a half hours', () => {
    expect(waits(0.5))
      .to.have.length(DELIVERY_ATTEMPTS - 1)
      .and.have.length(9);
    expect(sum(waits(0.5))).to.be.within(2.4 * HOUR, 2.7 * HOUR);
    expect(sum(waits(0))).to.be.above(2 * HOUR);
    expect(sum(waits(0.999))).to.be.below(3.2 * HOUR);
  });

  it('has each wait longer than the one before, whatever the jitter', () => {
    const [shortest, longest] = [waits(0), waits(0.999_999)];
    expect(shortest[0]).to.be.within(4_000, 4_001);
    expect(longest[0]).to.be.within(5_999, 6_000);
    for (let index = 1; index < 9; index++) expect(shortest[index]).to.be.above(longest[index - 1]!);
  });

  it('waits as long as the receiver asks, but no less than otherwise, and an hour at most', () => {
    expect(waitAfter({ attempt: 1, random: 0.5, retryAfterMs: 60_000 })).to.equal(60_000);
    expect(waitAfter({ attempt: 1, random: 0.5, retryAfterMs: 1 })).to.equal(5_000);
    expect(waitAfter({ attempt: 1, random: 0.5, retryAfterMs: 50 * HOUR })).to.equal(HOUR);
    expect(waitAfter({ attempt: 9, random: 0.5, retryAfterMs: HOUR })).to.be.above(HOUR);
    expect(waitAfter({ attempt: 10, random: 0.5, retryAfterMs: 1_000 })).to.equal(undefined);
  });

  for (const [header, ms] of [
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['0', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['Sun, 06 Nov 1994 08:49:36 GMT', undefined],
    [undefined, undefined],
  ] as const) {
    it(`reads Retry-After: ${header} as ${ms} ms`, () => {
      expect(readRetryAfter(header, Date.parse('1994-11-06T08:49:37Z'))).to.equal(ms);
    });
  }
});
