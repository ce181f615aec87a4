import { expect } from 'chai';
import { ViolationCollector } from '../../../src/domain/errors.ts';
import type { Json } from '../../../src/domain/json.ts';
import { checkTemplate, evaluateTemplate } from '../../../src/expressions/template.ts';
import { findReferences } from './found-references.ts';
import { violationsOf } from './violations.ts';

function nested(levels: number): Json {
  let value: Json = '{{ data }}';
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe('walking templates', () => {
  it('names the place of a fault by at most 200 characters', () => {
    const template = { ['n'.repeat(150)]: { ['m'.repeat(150)]: ['{{'] } };
    const path = `mask.${'n'.repeat(150)}.${'m'.repeat(150)}`.slice(0, 200);
    const violations = new ViolationCollector();
    checkTemplate(template, 'mask', violations);
    expect(Object.keys(violationsOf(() => violations.throwIfAny()))).to.deep.equal([path]);
    expect(Object.keys(violationsOf(() => evaluateTemplate(template, { data: 1 }, 'mask')))).to.deep.equal([path]);
  });

  it('reads a hundred levels, and refuses more', () => {
    expect(JSON.stringify(evaluateTemplate(nested(100), { data: 1 }))).to.equal(
      `${'['.repeat(100)}1${']'.repeat(100)}`,
    );
    const violations = new ViolationCollector();
    checkTemplate(nested(101), 'mask', violations);
    const tooDeep = { [`mask${'[0]'.repeat(100)}`.slice(0, 200)]: ['must not be nested deeper than 100 levels'] };
    expect(violationsOf(() => violations.throwIfAny())).to.deep.equal(tooDeep);
    expect(violationsOf(() => evaluateTemplate(nested(101), { data: 1 }, 'mask'))).to.deep.equal(tooDeep);
  });

  it('refuses objects of too many members', () => {
    const objectOf = (members: number) => Object.fromEntries(Array.from({ length: members }, (_, index) => [index, 1]));
    expect(() => evaluateTemplate(objectOf(20_000), { data: 1 })).not.to.throw();
    expect(violationsOf(() => evaluateTemplate({ a: objectOf(20_001) }, { data: 1 }, 'mask'))).to.deep.equal({
      'mask.a': ['must not have objects of more than 20000 members'],
    });
  });

  it('finds references where they stand, in order', () => {
    const { tokens } = findReferences({ a: ['x', '{{ one }} {{ two }}'], b: '{{ one }}' }, 'args');
    expect([...tokens]).to.deep.equal([
      ['one', ['args.a[1]', 'args.b']],
      ['two', ['args.a[1]']],
    ]);
  });
});
