import { expect } from 'chai';
import type { Refine } from '../../../src/api/route.ts';
import {
  closeObjects,
  compileAnswerFilter,
  compileBodyCheck,
  compileQueryCheck,
} from '../../../src/api/validation/validator.ts';
import { violationsOf } from '../expressions/violations.ts';

const schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 3 },
    kind: { type: 'string', enum: ['a', 'b'] },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    owner: { type: 'string', format: 'uuid' },
    tags: { type: 'array', maxItems: 1, items: { type: ['string', 'null'] } },
    map: {
      type: 'object',
      maxProperties: 1,
      propertyNames: { maxLength: 2 },
      additionalProperties: { type: 'string' },
    },
  },
};

describe('checks of bodies', () => {
  const check = compileBodyCheck(schema);

  it('tell the first fault alone of a body too large to look into in full', () => {
    const tags = Array.from({ length: 20_000 }, () => 5);
    expect(violationsOf(() => check({ name: 'secret', tags }))).to.have.all.keys('name');
    expect(violationsOf(() => check({ tags, name: 'x' }))).to.deep.equal({ tags: ['must have at most 1 entries'] });
  });

  for (const [body, expected] of [
    [{}, { name: ['is required'] }],
    [[], { '': ['must be an object'] }],
    [{ name: '' }, { name: ['must not be empty'] }],
    [{ name: 'secret' }, { name: ['must have at most 3 characters'] }],
    [{ name: 'x', kind: 'secret' }, { kind: ['must be one of a, b'] }],
    [{ name: 'x', count: 0 }, { count: ['must be 1 or more'] }],
    [{ name: 'x', count: 10 }, { count: ['must be 9 or less'] }],
    [{ name: 'x', count: '5' }, { count: ['must be an integer'] }],
    [{ name: 'x', owner: 'secret' }, { owner: ['must be a UUID'] }],
    [
      { name: 'x', tags: ['a', 5] },
      { tags: ['must have at most 1 entries'], 'tags[1]': ['must be a string or null'] },
    ],
    [{ name: 'x', map: { a: 1 } }, { 'map.a': ['must be a string'] }],
    [{ name: 'x', map: { 'a/~b': 1 } }, { 'map.a/~b': ['must be a string'] }],
  ] as const) {
    it(`say what is wrong with ${JSON.stringify(body)}, and never its values`, () => {
      const violations = violationsOf(() => check(body));
      for (const [path, messages] of Object.entries(expected)) expect(violations[path]).to.deep.equal(messages);
      expect(JSON.stringify(violations)).not.to.contain('secret');
    });
  }

  it('take what is sound, unknown members too, and change nothing', () => {
    const body = { name: 'abc', kind: 'a', other: { any: 'thing' } };
    check(body);
    expect(body).to.deep.equal({ name: 'abc', kind: 'a', other: { any: 'thing' } });
  });

  it('let a refinement see the members without faults, where the schema finds any', () => {
    const seen: object[] = [];
    const refine: Refine = (members, violations) => {
      seen.push(members);
      violations.add('kind', 'is odd');
    };
    const refined = compileBodyCheck(schema, refine);
    expect(violationsOf(() => refined({ name: 5, kind: 'a', tags: [5] }))).to.include.all.keys(
      'name',
      'kind',
      'tags[0]',
    );
    refined({ name: 'x' });
    expect(() => refined('no object')).to.throw();
    expect(seen).to.deep.equal([{ kind: 'a' }]);
  });
});

describe('checks of queries', () => {
  const check = compileQueryCheck({
    type: 'object',
    properties: {
      size: { type: 'integer', minimum: 1, default: 20 },
      id: { type: 'array', items: { type: 'string' } },
    },
  });

  it('turn texts into the types of the schema and fill in defaults', () => {
    const query = { id: ['a'] };
    check(query);
    expect(query).to.deep.equal({ id: ['a'], size: 20 });
    const sized = { size: '5' };
    check(sized);
    expect(sized).to.deep.equal({ size: 5 });
  });

  it('refuse texts that are not of the type', () => {
    for (const size of ['', 'x', '1.5', '0', '1e2', ' 5', '+5', '0x5'])
      expect(violationsOf(() => check({ size }))).to.have.all.keys('size');
  });
});

describe('filters of answers', () => {
  const item = { type: 'object', properties: { id: { type: 'string' }, any: {} } };

  it('leave out every member that is not named, however deep, and keep what may be anything', () => {
    const filter = compileAnswerFilter({ type: 'object', properties: { data: { type: 'array', items: item } } });
    const answer = { data: [{ id: 'a', any: { thing: 1 }, digest: 'secret' }], secret: 'secret' };
    filter(answer);
    expect(answer).to.deep.equal({ data: [{ id: 'a', any: { thing: 1 } }] });
  });

  it('keep maps open', () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    expect(closeObjects(map)).to.deep.equal(map);
  });

  it('refuse an answer that breaks its schema, without repeating it', () => {
    expect(() => compileAnswerFilter(item)({ id: 5, any: 'secret' })).to.throw(Error, /'\/id' \(type\)/);
  });
});
