import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import type { Json } from '../../../src/domain/json.ts';
import { MAX_TEMPLATE_WORK } from '../../../src/expressions/limits.ts';
import { resolveReferences } from '../../../src/expressions/references.ts';
import { MAX_REQUEST_OUTPUT, RequestBudget } from '../../../src/expressions/request-budget.ts';
import { evaluateTemplate } from '../../../src/expressions/template.ts';
import { HOSTILE } from '../../fixtures/expressions/hostile.ts';

// Counted, not timed: how long a case takes is measured by `test/bench/expressions.ts`. The last step may go beyond.
const MOST_WORK = 1.2 * MAX_TEMPLATE_WORK;

interface Outcome {
  /** `stopped`: by the clock, which the rest of the machine may make run out at any time. */
  outcome: 'value' | 'refused' | 'stopped';
  work: number;
  size: number;
}

function outcomeOf(template: Json, data: Json): Outcome {
  const budget = new RequestBudget();
  try {
    const value = evaluateTemplate(template, { data }, 'mask', budget);
    return { outcome: 'value', work: budget.work, size: JSON.stringify(value).length };
  } catch (error) {
    expect(error).to.be.instanceOf(DomainError).with.property('kind', 'invalid');
    const { violations } = error as DomainError;
    const [path = ''] = Object.keys(violations!);
    expect(path).to.match(/^mask/);
    const outcome = /takes longer/.test(JSON.stringify(violations)) ? 'stopped' : 'refused';
    return { outcome, work: budget.work, size: JSON.stringify(violations).length };
  }
}

for (const [group, cases] of Object.entries(HOSTILE)) {
  describe(`hostile ${group}`, () => {
    for (const { name, template, data, outcome } of cases) {
      it(`${outcome === 'timed' ? 'end' : outcome === 'value' ? 'give a value' : 'are refused'} in bounded work: ${name}`, () => {
        const actual = outcomeOf(template, data);
        if (outcome !== 'timed' && actual.outcome !== 'stopped') expect(actual.outcome).to.equal(outcome);
        expect(actual.work).to.be.lessThan(MOST_WORK);
        expect(actual.size).to.be.lessThan(actual.outcome === 'value' ? MAX_REQUEST_OUTPUT * 1.2 : 1_000);
      });
    }
  });
}

describe('hostile references', () => {
  it('cannot multiply one large token', () => {
    const tokens = new Map([['abc', { data: Array.from({ length: 150_000 }, Number), token: {} }]]);
    expect(() => resolveReferences(new Array<string>(50_000).fill('{{ abc }}'), { tokens })).to.throw(DomainError);
  });
});
