import { expect } from 'chai';
import { Budget, MAX_RENDER_MS } from '../../../src/expressions/limits.ts';
import { compute, standStill } from '../../support/thread-time.ts';

/** Work whose time counts. */
const TIMED_WORK = 30_000;

describe('the budget of a template', () => {
  it('counts no time in which the process waits for its turn', () => {
    const budget = new Budget();
    budget.spend(TIMED_WORK);
    for (let time = 0; time < 3; time++) {
      standStill(MAX_RENDER_MS + 5);
      expect(() => budget.spend(1)).not.to.throw();
    }
  });

  it('ends with the time that it computes, waits between or not', () => {
    const budget = new Budget();
    budget.spend(TIMED_WORK);
    compute(MAX_RENDER_MS / 2);
    standStill(MAX_RENDER_MS);
    expect(() => budget.spend(1)).not.to.throw();
    compute(MAX_RENDER_MS / 2 + 1);
    expect(() => budget.spend(1)).to.throw(`takes longer than ${MAX_RENDER_MS} ms`);
  });

  it('does not time little work', () => {
    const budget = new Budget();
    compute(MAX_RENDER_MS + 1);
    expect(() => budget.spend(1)).not.to.throw();
  });
});
