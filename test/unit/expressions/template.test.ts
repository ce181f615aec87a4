import { expect } from 'chai';
import { DomainError, ViolationCollector, type Violations } from '../../../src/domain/errors.ts';
import type { Json } from '../../../src/domain/json.ts';
import {
  checkTemplate,
  containsExpression,
  evaluateExpression,
  evaluateTemplate,
} from '../../../src/expressions/template.ts';
import { violationsOf } from './violations.ts';

const card = { number: '4242424242424242', expiration_month: 3, expiration_year: 2031, tags: ['a', 'b'] };

describe('evaluateTemplate', () => {
  const values: [template: Json, result: Json][] = [
    ['{{ data.expiration_month }}', 3],
    ['{{data.tags}}', ['a', 'b']],
    ['{{ data.tags[1] }}', 'b'],
    ["{{ data['number'] }}", card.number],
    ['{{ data.missing }}', null],
    ['{{ data.missing.deeper }}', null],
    ['<{{ data.missing }}>', '<>'],
    ['month {{ data.expiration_month }}', 'month 3'],
    ['tags {{ data.tags }}', 'tags ["a","b"]'],
    [' {{ data.expiration_month }}', ' 3'],
    ['a {{- data.expiration_month -}} b', 'a3b'],
    ['{{ data.expiration_month }}|{{ data.expiration_year }}', '3|2031'],
    ["{{ 'a' | append: '}}' }}", 'a}}'],
    ['{{ metadata.order }}', '17'],
    ['no expression }} here', 'no expression }} here'],
    [{ a: [1, null, '{{ data.number | last4 }}'] }, { a: [1, null, '4242'] }],
    ['{{ data.__proto__ }}', null],
    ['{{ data.constructor }}', null],
    ['{{ constructor }}', null],
    ["{{ data['toString'] }}", null],
    ['{{ data.tags.constructor.constructor }}', null],
  ];
  for (const [template, result] of values) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(template)}`, () => {
      expect(evaluateTemplate(template, { data: card, metadata: { order: '17' } })).to.deep.equal(result);
    });
  }

  it('keeps a member named __proto__ a member', () => {
    const template = JSON.parse('{"__proto__": {"a": "{{ data }}"}}') as Json;
    const result = evaluateTemplate(template, { data: 1 });
    expect(JSON.stringify(result)).to.equal('{"__proto__":{"a":1}}');
    expect(({} as { a?: unknown }).a).to.equal(undefined);
  });

  it('does not evaluate member names, nor what comes out of data', () => {
    const template = { '{{ data }}': '{{ data }}' };
    expect(evaluateTemplate(template, { data: '{{ data }}' })).to.deep.equal(template);
  });

  it('names the property of the failing string', () => {
    const evaluate = (): Json => evaluateTemplate({ a: ['{{ data | nope }}'] }, { data: 1 }, 'mask');
    expect(violationsOf(evaluate)).to.deep.equal({ 'mask.a[0]': ['has an unknown filter nope'] });
  });
});

describe('refused expressions', () => {
  const refused: [expression: string, message: string][] = [
    ['{{ data', 'has an expression that is not closed'],
    ['{{ }}', 'has an expression without a single value before its filters'],
    ['{{ data == 1 }}', 'has an expression without a single value before its filters'],
    ['{{ (1..5) }}', 'has an expression without a single value before its filters'],
    ['{{ data, data }}', 'has an expression with a syntax error'],
    ['{{ data | | }}', 'has an expression with a syntax error'],
    ['{% assign x = 1 %}', 'must not contain tags ({% %})'],
    ['{{ data }}{% raw %}', 'must not contain tags ({% %})'],
    ['{{ data | constructor }}', 'has an unknown filter constructor'],
    ['{{ data | __proto__ }}', 'has an unknown filter'],
    ['{{ data | 4242424242424242 }}', 'has an unknown filter'],
    ['{{ data | sha256 }}', 'has an unknown filter sha256'],
    ['{{ data | hmac_sha1 }}', 'has an unknown filter hmac_sha1'],
    ['{{ data | n4242424242424242 }}', 'has an unknown filter'],
    ['{{ data | a1b2c3d4e5 }}', 'has an unknown filter'],
    [`{{ data | ${'x'.repeat(41)} }}`, 'has an unknown filter'],
    ['{{ data | secret-value }}', 'has an unknown filter'],
    ["{{ data | where_exp: 'x', 'x' }}", 'has an unknown filter where_exp'],
    ['{{ data | reveal_last }}', 'filter reveal_last: needs the argument n'],
    ['{{ data | last4: 1 }}', 'filter last4: has too many arguments'],
    ["{{ data | reveal_last: 'x' }}", 'filter reveal_last: n must be a whole number from 0 to 1048576'],
    ['{{ data | reveal_last: n: 4 }}', 'filter reveal_last: takes its arguments by position'],
    ["{{ data | json: 'x' }}", 'filter json: path must be a JSONPath query (RFC 9535)'],
    ['{{ data | default: (1..5) }}', 'filter default: takes no ranges'],
  ];
  for (const [expression, message] of refused) {
    it(`are refused before evaluation: ${expression}`, () => {
      const violations = new ViolationCollector();
      checkTemplate(expression, 'mask', violations);
      expect(violationsOf(() => violations.throwIfAny())).to.deep.equal({ mask: [message] });
      expect(violationsOf(() => evaluateExpression(expression, { data: 1 }, 'mask'))).to.deep.equal({
        mask: [message],
      });
    });
  }

  it('are all reported together', () => {
    const violations = new ViolationCollector();
    checkTemplate({ a: '{{ data | x }}', b: ['{{', '{{ data }}'] }, 'mask', violations);
    const found: Violations = violationsOf(() => violations.throwIfAny());
    expect(Object.keys(found)).to.deep.equal(['mask.a', 'mask.b[0]']);
  });

  it('never tell data or template text', () => {
    const secret = '4111111111111111';
    const failing = [
      '{{ data | to_number }}',
      '{{ data | json: data }}',
      '{{ data | hmac: data, data }}',
      '{{ data | base64_decode }}',
      '{{ data | divided_by: 0 }}',
      `{{ data ${secret} }}`,
      `{{ data | ${secret} }}`,
      `{{ '${secret}' | to_boolean }}`,
      `{{ data | card_exp: '${secret}' }}`,
      `{{ data[${secret} }}`,
    ];
    for (const expression of failing) {
      try {
        evaluateExpression(expression, { data: `x${secret}=` }, 'mask');
        expect.fail(`${expression} was evaluated`);
      } catch (error) {
        expect(error, expression).to.be.instanceOf(DomainError);
        const told = JSON.stringify([(error as DomainError).message, (error as DomainError).violations]);
        expect(told).not.to.contain(secret);
        expect((error as DomainError).cause).to.equal(undefined);
      }
    }
  });
});

describe('containsExpression', () => {
  it('takes an opening pair of braces for an expression', () => {
    expect(containsExpression('{{ data }}')).to.equal(true);
    expect(containsExpression('{{ data')).to.equal(true);
    expect(containsExpression('data }}')).to.equal(false);
  });
});
