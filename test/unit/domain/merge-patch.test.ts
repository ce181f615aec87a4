import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../../src/domain/json.ts';
import { mergePatch } from '../../../src/domain/merge-patch.ts';

/** RFC 7386, appendix A: original, patch, result. */
const VECTORS: [string, string, string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

const parse = (text: string): Json => JSON.parse(text) as Json;

describe('merge patches (RFC 7386)', () => {
  for (const [original, patch, result] of VECTORS) {
    it(`${original} + ${patch} = ${result}`, () => {
      expect(JSON.stringify(mergePatch(parse(original), parse(patch)))).to.equal(result);
    });
  }

  it('begin from nothing', () => {
    expect(mergePatch(undefined, { a: 1, b: null })).to.deep.equal({ a: 1 });
  });

  it('keep members with the names of prototypes as members', () => {
    const patch = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const result = mergePatch({ a: 1 }, parse(patch));
    expect(JSON.stringify(result)).to.equal(`{"a":1,${patch.slice(1)}`);
    expect(Object.getPrototypeOf(result)).to.equal(Object.prototype);
    expect({}).not.to.have.property('polluted');
    expect(mergePatch({ a: 1 }, parse('{"toString":null}'))).to.deep.equal({ a: 1 });
  });

  it('change neither argument, and change nothing when applied again', () => {
    const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const once = mergePatch(target, patch);
        expect(JSON.stringify([target, patch])).to.equal(before);
        expect(mergePatch(once, patch)).to.deep.equal(once);
      }),
    );
  });
});
