import { expect } from 'chai';
import { readMetadataFilter } from '../../../src/api/routes/tokens/metadata-filter.ts';
import { violationsOf } from '../expressions/violations.ts';

const read = (query: string) => readMetadataFilter(new URLSearchParams(query));

describe('filters by metadata', () => {
  for (const [query, expected] of [
    ['', undefined],
    ['page=1&xmetadata.a=b&metadata.=c', undefined],
    ['metadata.a=b', { a: 'b' }],
    ['metadata.[a]=b', { a: 'b' }],
    ['metadata.%5Ba.b%5D=c%20d', { 'a.b': 'c d' }],
    ['metadata.a=', { a: '' }],
    ['metadata={"a":"1","b":"2"}&metadata.a=3&metadata.c=4', { a: '1', b: '2', c: '4' }],
    ['metadata={}', undefined],
    ['metadata.a=1&metadata.A=2&metadata.[a]=3&metadata.b=4', { a: '1', b: '4' }],
  ] as const) {
    it(`of ${JSON.stringify(query)}`, () => expect(read(query)).to.deep.equal(expected));
  }

  it('keep names of prototypes as names', () => {
    expect(Object.entries(read('metadata.__proto__=a')!)).to.deep.equal([['__proto__', 'a']]);
  });

  for (const value of ['x', '', '1', 'null', '["a"]', '"a"', '{"a":1}', '{"a":null}', '{"a":{"b":"c"}}']) {
    it(`refuse ${value} in the place of a JSON object of texts`, () => {
      const violations = violationsOf(() => read(`metadata=${encodeURIComponent(value)}`));
      expect(violations).to.deep.equal({ metadata: ['must be a JSON object of texts'] });
    });
  }

  it('refuse lone surrogates, which Postgres cannot read', () => {
    for (const text of ['{"a":"\\ud800"}', '{"\\udc00":"b"}']) {
      expect(violationsOf(() => read(`metadata=${encodeURIComponent(text)}`))).to.have.all.keys('metadata');
    }
  });

  it('refuse NUL and too many keys', () => {
    expect(violationsOf(() => read('metadata.a=%00'))).to.have.all.keys('metadata.a');
    expect(violationsOf(() => read('metadata={"a":"\\u0000"}'))).to.have.all.keys('metadata');
    const many = Array.from({ length: 51 }, (_, index) => `metadata.k${index}=v`).join('&');
    expect(violationsOf(() => read(many))).to.have.all.keys('metadata');
  });
});
