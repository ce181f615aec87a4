import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { RequestBudget } from '../../../src/expressions/request-budget.ts';
import { evaluateTemplate } from '../../../src/expressions/template.ts';
import { compute, standStill } from '../../support/thread-time.ts';
import { violationsOf } from './violations.ts';

// Well within the work whose time is not counted for one template, and many times that for a hundred.
const data: Json = Array.from({ length: 500 }, (_, index) => ({ b: index }));
const template = "{{ data | json: '$..[?@.a==1]' | default: 'none' }}";

function evaluateMany(budget: RequestBudget | undefined, times: number): void {
  for (let time = 0; time < times; time++) evaluateTemplate(template, { data }, 'mask', budget);
}

describe('the budget of a request', () => {
  it('bounds the time of its templates together, naming where it ran out', () => {
    expect(violationsOf(() => evaluateMany(new RequestBudget(0), 100))).to.deep.equal({
      mask: ['filter json: takes longer to evaluate than one request may, its other expressions included'],
    });
  });

  it('stops slow templates that are each within their own bound', () => {
    const started = performance.now();
    expect(violationsOf(() => evaluateMany(new RequestBudget(20), 100_000))).to.have.property('mask');
    expect(performance.now() - started).to.be.lessThan(500);
  });

  /** Work that is timed, of one template. */
  const TIMED = 150_000;

  it('counts nothing that is computed between evaluations', () => {
    const budget = new RequestBudget(20);
    budget.time(() => budget.spend(TIMED, TIMED));
    compute(25);
    expect(() => budget.time(() => budget.spend(1, TIMED))).not.to.throw();
  });

  it('counts no time in which the process waits for its turn', () => {
    const budget = new RequestBudget(20);
    budget.time(() => {
      budget.spend(TIMED, TIMED);
      standStill(25);
      expect(() => budget.spend(1, TIMED)).not.to.throw();
    });
    expect(() => budget.time(() => budget.spend(1, TIMED))).not.to.throw();
  });

  it('adds up what its evaluations compute', () => {
    const budget = new RequestBudget(40);
    budget.time(() => budget.spend(TIMED, TIMED));
    budget.time(() => compute(25));
    expect(() => budget.time(() => budget.spend(1, TIMED))).not.to.throw();
    budget.time(() => compute(25));
    expect(() => budget.time(() => budget.spend(1, TIMED))).to.throw('longer to evaluate than one request may');
  });

  it('counts what an evaluation that fails has computed', () => {
    const budget = new RequestBudget(20);
    const fail = () => {
      compute(25);
      throw new Error('fails');
    };
    expect(() => budget.time(fail)).to.throw('fails');
    expect(() => budget.time(() => budget.spend(TIMED, TIMED))).to.throw();
  });

  it('refuses no little work, however late', () => {
    expect(() => evaluateMany(new RequestBudget(0), 5)).not.to.throw();
  });

  it('is not shared where none is given', () => {
    expect(() => evaluateMany(undefined, 50)).not.to.throw();
  });

  it('lets plain templates through once it is used up', () => {
    const budget = new RequestBudget(0);
    expect(() => evaluateMany(budget, 100)).to.throw();
    expect(evaluateTemplate({ a: 'plain' }, { data }, 'mask', budget)).to.deep.equal({ a: 'plain' });
  });

  it('shows the small templates that stand beside those that used it up', () => {
    const budget = new RequestBudget(0);
    expect(() => evaluateMany(budget, 100)).to.throw();
    const mask = '{{ data | reveal_last: 4 }}';
    expect(evaluateTemplate(mask, { data: 'secret-1234' }, 'mask', budget)).to.equal('XXXXXX-1234');
    expect(() => evaluateMany(budget, 1)).to.throw();
  });

  it('ends for small templates, too', () => {
    const budget = new RequestBudget(0);
    const mask = '{{ data | reveal_last: 4 }}';
    const evaluate = (): unknown => evaluateTemplate(mask, { data: 'a'.repeat(500) }, 'mask', budget);
    expect(() => {
      for (let time = 0; time < 1_000; time++) evaluate();
    }).to.throw();
  });

  it('bounds the output of its templates together', () => {
    const budget = new RequestBudget();
    const evaluate = (): unknown => evaluateTemplate('a'.repeat(1_000_000), { data }, 'mask', budget);
    for (let time = 0; time < 8; time++) evaluate();
    expect(violationsOf(evaluate)).to.deep.equal({
      mask: ['gives more output than one request may, its other expressions included'],
    });
    expect(evaluateTemplate('plain', { data }, 'mask', budget)).to.equal('plain');
  });
});
