import { expect } from 'chai';
import fc from 'fast-check';
import querystring from 'node:querystring';
import url from 'node:url';
import util from 'node:util';
import { createInspect } from '../../../src/reactors/guest/inspect.ts';
import { createLegacyUrl } from '../../../src/reactors/guest/legacy-url.ts';
import { createQuerystring } from '../../../src/reactors/guest/querystring.ts';

const { inspect, format } = createInspect();

class Money {
  amount = 1;
}
const circular: Record<string, unknown> = { name: 'x' };
circular['self'] = circular;
const bare = Object.assign(Object.create(null) as object, { a: 1 });
const accessors = {
  get read() {
    return 1;
  },
  set written(_: number) {},
};

describe('modules that reactors require, beside those of Node', () => {
  const values: unknown[] = [
    ...[1, -0, 10n, 'a', "it's", `"'`, 'a\nb\u0007', true, null, undefined, Symbol('s')],
    ...[[], {}, [1, [2, [3, [4]]]], [undefined, null], { a: { b: { c: { d: 1 } } } }, { 'a-b': 1, c: [1, { d: 2 }] }],
    ...[new Map([[1, { a: 2 }]]), new Set([1, 'a']), new Date(0), /x/g, new Money(), bare, circular, accessors],
    ...[() => 1, function named() {}, Money, Buffer.from('abc'), new Uint8Array(3), new String('x'), [new Map()]],
    ...[Array.from({ length: 5 }, (_, at) => 'x'.repeat(at * 9)), { long: 'x'.repeat(60), other: 'y'.repeat(60) }],
    { id: 'ch_1', amount: 1000, source: { id: 'src', card: { brand: 'visa', checks: { cvc: 'pass' } } } },
  ];
  values.forEach((value) => {
    it(`shows ${util.inspect(value).slice(0, 60).replaceAll('\n', ' ')} alike`, () => {
      expect(inspect(value)).to.equal(util.inspect(value));
    });
  });

  it('show data of any shape alike', () => {
    const text = fc.string({ maxLength: 20, unit: fc.constantFrom(...'abc d1') });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        ...[text, fc.integer(), fc.constant(null), fc.boolean()],
        fc.array(tie('value'), { maxLength: 6 }),
        fc.dictionary(fc.constantFrom('a', 'bb', 'c-c', 'dddd'), tie('value'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (any) => {
        expect(inspect(any)).to.equal(util.inspect(any));
      }),
      { numRuns: 500 },
    );
  });

  for (const args of [
    ['%s-%d', 'a', 2],
    ['%s', { a: { b: { c: 1 } } }],
    ['%j %o', { a: 1 }, { b: 1 }],
    ['a', { a: 1 }, 'b'],
    [{ a: 1 }, 'x'],
    ['%i %f', '12.5px', '1.5'],
    ['%% %x', 1],
    ['100%'],
    ['%s %s %s', null, undefined, Symbol('a')],
    ['%d', '0x10'],
    ['%s', [1, 'a']],
    [],
  ] as unknown[][]) {
    it(`format ${args.map((arg) => util.inspect(arg)).join(', ')} alike`, () => {
      expect(format(...args)).to.equal(util.format(...args));
    });
  }

  const ours = createQuerystring();
  it('write and read queries alike', () => {
    const text = fc.string({ maxLength: 8, unit: fc.constantFrom(...'ab1 &=%+;üé€"~!') });
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 }))), (query) => {
        expect(ours.stringify(query)).to.equal(querystring.stringify(query));
        expect({ ...ours.parse(querystring.stringify(query)) }).to.deep.equal({
          ...querystring.parse(querystring.stringify(query)),
        });
      }),
    );
  });

  const legacy = createLegacyUrl({ URL, URLSearchParams } as never, ours);
  for (const address of [
    'https://user:pa%20ss@Shop.example:8080/a/b?x=1&y=2#frag',
    'http://a.example',
    'http://a.example?x=1',
    'HTTPS://A.example/ü b',
    'http://[::1]:80/x',
    '/relative?x=1',
    'relative/path#h',
    '//host/path',
    '?only=query',
    '',
  ]) {
    it(`take ${address || 'nothing'} apart and together alike`, () => {
      const theirs = url.parse(address);
      expect({ ...legacy.parse(address) }).to.deep.equal({ ...theirs });
      expect(legacy.format(legacy.parse(address))).to.equal(url.format(theirs));
    });
  }
});
