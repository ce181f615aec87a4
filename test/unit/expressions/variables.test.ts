import { expect } from 'chai';
import { ViolationCollector } from '../../../src/domain/errors.ts';
import { resolveReferences } from '../../../src/expressions/references.ts';
import { checkTemplate, evaluateTemplate } from '../../../src/expressions/template.ts';
import { findReferences } from './found-references.ts';
import { violationsOf } from './violations.ts';

describe('names in the expressions of token attributes', () => {
  const check = (template: string) => {
    const violations = new ViolationCollector();
    checkTemplate(template, 'mask', violations);
    violations.throwIfAny();
  };

  for (const [expression, message] of [
    ['{{ dat }}', 'has an unknown variable dat'],
    ['{{ dta | last4 }}', 'has an unknown variable dta'],
    ['{{ dat.number }}', 'has an unknown variable dat'],
    ["{{ ['dat'] }}", 'has an unknown variable dat'],
    ['{{ data[nam] }}', 'has an unknown variable nam'],
    ['{{ [data] }}', 'has an unknown variable'],
    ['{{ forloop }}', 'has an unknown variable forloop'],
    ['{{ constructor }}', 'has an unknown variable constructor'],
    ['{{ data | append: nope }}', 'filter append: has an unknown variable nope'],
    ['{{ data | append: data[nope] }}', 'filter append: has an unknown variable nope'],
    ["{{ data | default: '', allow_false: nope }}", 'filter default: has an unknown variable nope'],
    ['{{ data | reveal_last: n }}', 'filter reveal_last: has an unknown variable n'],
    ["{{ 'a' | append: 'b' | append: nope.x }}", 'filter append: has an unknown variable nope'],
  ] as const) {
    it(`are refused where they are no variable: ${expression}`, () => {
      expect(violationsOf(() => check(expression))).to.deep.equal({ mask: [message] });
    });
  }

  for (const expression of [
    '{{ data }}{{ metadata.order }}{{ data.dat["x y"][0] }}',
    "{{ ['data'] }}{{ data[metadata.name] }}",
    '{{ nil }}{{ null }}{{ true }}{{ false }}{{ empty }}{{ blank }}{{ 1 }}{{ -1.5 }}{{ "x" }}',
    "{{ data | default: nil }}{{ data | default: false, allow_false: true }}{{ 'x'.size }}",
    '{{ data | append: metadata.a | append: data.b }}',
  ]) {
    it(`are taken where they are variables or literals: ${expression}`, () => check(expression));
  }

  it('are not repeated where they may be data', () => {
    const told = JSON.stringify(violationsOf(() => check('{{ x4111111111111111 | append: y-4111111111111111 }}')));
    expect(told).not.to.contain('4111');
  });

  it('are null where what was stored with them is read', () => {
    expect(evaluateTemplate('{{ dta | last4 }}', { data: 'x' })).to.equal(null);
    expect(evaluateTemplate('a{{ data | append: nope }}', { data: 'x' })).to.equal('ax');
  });

  for (const expression of ['{{ (1..9).size }}', '{{ data[(1..9)] }}', '{{ data | append: (1..9).size }}']) {
    it(`hide no range: ${expression}`, () => {
      expect(violationsOf(() => check(expression))).to.have.all.keys('mask');
    });
  }
});

describe('names in the arguments of references', () => {
  const tokens = new Map([['card-1', { data: 'a', token: {} }]]);

  for (const argument of ['nope', 'card-1', 'data', 'metadata.x', "'a'[nope]"]) {
    it(`are refused: ${argument}`, () => {
      const template = { a: [`{{ card-1 | append: ${argument} }}`] };
      for (const work of [
        () => findReferences(template, 'args'),
        () => resolveReferences(template, { tokens }, 'args'),
      ]) {
        const violations = violationsOf(work);
        expect(violations).to.have.all.keys('args.a[0]');
        expect(violations['args.a[0]']![0]).to.match(/^filter append: has an unknown variable/);
      }
    });
  }

  it('may be literals', () => {
    const template = ["{{ card-1 | append: 'b' | default: nil }}", '{{ card-1 | default: 5, allow_false: true }}'];
    expect(resolveReferences(template, { tokens })).to.deep.equal(['ab', 'a']);
  });
});
