import { expect } from 'chai';
import fc from 'fast-check';
import { DomainError, ViolationCollector, type Violations } from '../../../src/domain/errors.ts';
import { guardJson, JSON_DEPTH, type NamedMembers } from '../../../src/domain/json-guard.ts';
import type { Json } from '../../../src/domain/json.ts';

function faultsOf(text: string, named?: NamedMembers): Violations {
  const violations = new ViolationCollector();
  guardJson(JSON.parse(text) as Json, violations, named);
  try {
    violations.throwIfAny();
    return {};
  } catch (error) {
    return (error as DomainError).violations!;
  }
}
const pathsOf = (text: string) => Object.keys(faultsOf(text));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('the guard of JSON bodies', () => {
  for (const [name, text, path] of [
    ['NUL in a text', '{"a":[1,"x\\u0000"]}', 'a[1]'],
    ['NUL at the top', '"\\u0000"', ''],
    ['NUL in a name', '{"a":{"b\\u0000c":1}}', 'a.bc'],
    ['a lone high surrogate', '{"a":"\\ud83d"}', 'a'],
    ['a lone low surrogate', '["\\ude00x"]', '[0]'],
    ['a lone surrogate in a name', '{"x\\ud800":1}', 'x\ufffd'],
    ['__proto__', '{"a":[{"__proto__":1}]}', 'a[0].__proto__'],
    ['a prototype of a constructor', '{"constructor":{"prototype":1}}', 'constructor'],
    ['an integer beyond 2^53', '{"n":9007199254740993}', 'n'],
    ['a negative one', '[-9007199254740993]', '[0]'],
    ['a number beyond all', '{"n":-1e999}', 'n'],
  ] as const) {
    it(`refuses ${name}`, () => expect(pathsOf(text)).to.deep.equal([path]));
  }

  for (const text of [
    '{"constructor":"a word","prototype":{"a":1},"toString":1}',
    '["😀","","\\n\\u0001"]',
    '[9007199254740991,-9007199254740991,0.1,1e-300,0,-0]',
    'null',
    nested(JSON_DEPTH),
  ]) {
    it(`takes ${text.slice(0, 60)}`, () => expect(faultsOf(text)).to.deep.equal({}));
  }

  it('refuses nesting beyond the limit, however deep', () => {
    for (const depth of [JSON_DEPTH + 1, 200_000]) {
      const [[path, messages]] = Object.entries(faultsOf(nested(depth))) as [[string, string[]]];
      expect(path).to.have.length.at.most(200);
      expect(messages).to.deep.equal([`must not be nested deeper than ${JSON_DEPTH} levels`]);
    }
  });

  it('names every fault, up to a hundred properties, in paths that are bounded', () => {
    expect(pathsOf('{"a":"\\u0000","b":{"__proto__":1},"c":"\\ud800"}')).to.have.members(['a', 'b.__proto__', 'c']);
    expect(pathsOf(`[${Array(500).fill('"\\u0000"').join()}]`)).to.have.length(100);
    expect(pathsOf(`{"${'x'.repeat(10_000)}":"\\u0000"}`)[0]).to.have.length(200);
  });

  it('tells what is wrong below a member that is not named of the place that holds it', () => {
    const data: NamedMembers = () => undefined;
    const named: NamedMembers = (key) => (key === 'data' ? data : undefined);
    const faults = faultsOf('{"data":{"4111":{"__proto__":1},"5":["\\u0000"]},"4242":{"__proto__":1}}', named);
    expect(faults).to.deep.equal({
      '': ['holds something that must not be used as a member name'],
      data: [
        'holds something that must not be used as a member name',
        'holds something that must not contain NUL characters',
      ],
    });
    expect(faultsOf('{"data":"\\u0000"}', named)).to.deep.equal({ data: ['must not contain NUL characters'] });
  });

  it('takes what is well-formed, whatever its shape', () => {
    const names = fc.string().filter((name) => name !== '__proto__' && name !== 'constructor' && !name.includes('\0'));
    const texts = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        ...[texts, fc.boolean(), fc.constant(null), fc.maxSafeInteger()],
        fc.array(tie('value')),
        fc.dictionary(names, tie('value')),
      ),
    }));
    fc.assert(fc.property(value, (json) => void expect(faultsOf(JSON.stringify(json))).to.deep.equal({})));
  });
});

describe('violations', () => {
  it('take the names of prototypes as any other path', () => {
    const violations = new ViolationCollector();
    for (const path of ['__proto__', 'constructor', 'toString']) violations.add(path, 'is odd');
    try {
      violations.throwIfAny();
    } catch (error) {
      expect(Object.keys((error as DomainError).violations!)).to.deep.equal(['__proto__', 'constructor', 'toString']);
    }
    expect({}).not.to.have.property('is odd');
  });

  it('collect those of others below a path, and let other errors pass', () => {
    const violations = new ViolationCollector();
    const inner = new ViolationCollector();
    inner.add('number', 'is wrong');
    inner.add('', 'is odd');
    expect(violations.collect(() => inner.throwIfAny(), 'card[0]')).to.equal(undefined);
    expect(violations.collect(() => 5)).to.equal(5);
    expect(() =>
      violations.collect(() => {
        throw new DomainError('conflict', 'taken', { violations: { id: ['x'] } });
      }),
    ).to.throw('taken');
    expect(() => violations.throwIfAny())
      .to.throw(DomainError)
      .with.deep.property('violations', { 'card[0].number': ['is wrong'], 'card[0]': ['is odd'] });
  });
});
