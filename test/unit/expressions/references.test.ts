import { expect } from 'chai';
import fc from 'fast-check';
import { DomainError } from '../../../src/domain/errors.ts';
import type { Json } from '../../../src/domain/json.ts';
import { type ResolvedToken, resolveReferences } from '../../../src/expressions/references.ts';
import { evaluateExpression } from '../../../src/expressions/template.ts';
import { findReferences } from './found-references.ts';
import { violationsOf } from './violations.ts';

const tokens = new Map<string, ResolvedToken>([
  ['card-1', { data: { number: '4242424242424242', month: 3 }, token: { id: 'card-1', type: 'card' } }],
  ["o'brien: a.b", { data: 7, token: { id: "o'brien: a.b" } }],
  ['sly', { data: '{{ card-1 }}', token: {} }],
]);

describe('findReferences', () => {
  it('lists each token and configuration value once, in order of appearance, and where it is', () => {
    const template = {
      b: "{{ o'brien: a.b }}",
      a: ['x {{card-1 | json: "$.number"}} {{ token: card-1 }}', '{{ config: KEY }}{{config:KEY}}'],
      c: 5,
    };
    const { tokens: named, configuration } = findReferences(template);
    expect([...named]).to.deep.equal([
      ["o'brien: a.b", ['b']],
      ['card-1', ['a[0]']],
    ]);
    expect([...configuration]).to.deep.equal([['KEY', ['a[1]']]]);
  });

  it('tells every place of a name, below the path of the template', () => {
    const { tokens: named } = findReferences({ a: '{{ one }}', b: [{ c: '{{ one | last4 }}{{ two }}' }] }, 'args');
    expect([...named]).to.deep.equal([
      ['one', ['args.a', 'args.b[0].c']],
      ['two', ['args.b[0].c']],
    ]);
  });

  it('reports faults below the path of the template', () => {
    expect(violationsOf(() => findReferences(['{{ }}'], 'args'))).to.have.all.keys('args[0]');
    expect(violationsOf(() => resolveReferences({ a: '{{ none }}' }, { tokens }, 'args'))).to.have.all.keys('args.a');
  });

  it('reports every syntax fault under its path', () => {
    const faults = violationsOf(() =>
      findReferences({ a: '{{ }}', b: ['{{ card-1 | nope }}', '{{ a<b }}'], c: '{{ abc' }),
    );
    expect(faults).to.deep.equal({
      a: ['has an expression without a token id'],
      'b[0]': ['has an unknown filter nope'],
      'b[1]': ['has an expression without a token id'],
      c: ['has an expression that is not closed'],
    });
  });
});

describe('resolveReferences', () => {
  const resolve = (template: Json): Json => resolveReferences(template, { tokens, configuration: { KEY: 'k' } });

  it('gives data typed, whole tokens, configuration, and text around them', () => {
    expect(resolve(["{{ card-1 | json: '$.month' }}", '{{token: card-1}}', '{{ config: KEY }}'])).to.deep.equal([
      3,
      { id: 'card-1', type: 'card' },
      'k',
    ]);
    expect(resolve("{{ o'brien: a.b }}/{{ card-1 | json: '$.number' | last4 }}")).to.equal('7/4242');
  });

  it('does not evaluate what comes out of a token', () => {
    expect(resolve('{{ sly }}')).to.equal('{{ card-1 }}');
    expect(resolve('a {{ sly }}')).to.equal('a {{ card-1 }}');
    expect(resolve("{{ sly | append: '{{ card-1 }}' }}")).to.equal('{{ card-1 }}{{ card-1 }}');
  });

  it('refuses unknown tokens and configuration, without repeating the name', () => {
    expect(violationsOf(() => resolve({ a: '{{ unknown }}' }))).to.deep.equal({ a: ['refers to an unknown token'] });
    for (const name of ['NONE', 'constructor', '__proto__']) {
      expect(violationsOf(() => resolve([`{{ config: ${name} }}`]))).to.deep.equal({
        '[0]': ['refers to an unknown configuration value'],
      });
    }
  });

  it('leaves the grammar of token attributes as it is', () => {
    expect(resolve("{{ card-1| json: '$.month' }}{{card-1}}")).to.be.a('string');
    for (const expression of ["{{| json: '$.month' }}", '{{}}']) {
      expect(() => evaluateExpression(expression, { data: 1 }), expression).to.throw(DomainError);
    }
  });

  it('refuses a path that selects several values', () => {
    expect(violationsOf(() => resolve({ a: "{{ card-1 | json: '$.*' }}" }))).to.deep.equal({
      a: ['filter json: the path must select one value, and selects several'],
    });
  });

  it('is the identity on templates without expressions', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (template) => {
        fc.pre(!/\{\{|\{%/.test(JSON.stringify(template)));
        expect(resolve(template as Json)).to.deep.equal(template);
      }),
    );
  });
});
