import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../../src/domain/json.ts';
import { mergePatch } from '../../../src/domain/merge-patch.ts';
import { MERGE_PATCH_VECTORS } from '../../fixtures/merge-patch-vectors.ts';

const parse = (text: string): Json => JSON.parse(text) as Json;

describe('merge patches (RFC 7386)', () => {
  it('are held against all vectors of appendix A', () => {
    expect(MERGE_PATCH_VECTORS).to.have.lengthOf(15);
  });

  for (const [original, patch, result] of MERGE_PATCH_VECTORS) {
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
