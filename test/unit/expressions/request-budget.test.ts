import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { RequestBudget } from '../../../src/expressions/request-budget.ts';
import { evaluateTemplate } from '../../../src/expressions/template.ts';
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
});
