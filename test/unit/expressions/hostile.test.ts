import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import type { Json } from '../../../src/domain/json.ts';
import { resolveReferences } from '../../../src/expressions/references.ts';
import { evaluateTemplate } from '../../../src/expressions/template.ts';

// CPU time, which other processes on the machine do not lengthen. Each attack took seconds or never ended before it was
// bounded; the bounds themselves are counted work, tested where they are set.
const LONGEST_CPU_MS = 1_000;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function list<T>(length: number, element: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => element(index));
}

function nested(levels: number, core: Json): Json {
  let value = core;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const million = 'a'.repeat(1_000_000);
const piped = (filter: string, times: number): string => `{{ data ${`| ${filter} `.repeat(times)}}}`;

const attacks: [name: string, template: Json, data: Json][] = [
  ['nested quantifiers', `{{ data | json: '$[?match(@, "(a+)+")]' }}`, [`${'a'.repeat(40)}b`]],
  ['nested quantifiers on long text', `{{ data | json: '$[?search(@, "(a*)*b")]' }}`, ['a'.repeat(20_000)]],
  [
    'nested quantifiers on many texts',
    `{{ data | json: '$[?search(@, "((a*)*)*c")]' }}`,
    list(1_000, () => 'a'.repeat(50)),
  ],
  ['large repetitions', `{{ data | json: '$[?search(@, "[a-z]{900}x")]' }}`, ['a'.repeat(2_000)]],
  [
    'descendant explosion',
    "{{ data | json: '$..[*]..[*]..[*]' }}",
    list(100, () => list(100, () => list(20, () => 1))),
  ],
  ['filters within filters', "{{ data | json: '$..[?count($..[?count($..*)>1])>1]' }}", list(300, () => ({ a: [1] }))],
  [
    'deep comparisons',
    "{{ data | json: '$.x[?$.a==$.b]' }}",
    { a: list(20_000, Number), b: list(20_000, Number), x: list(20_000, Number) },
  ],
  ['a query of parentheses', `{{ data | json: '$[?${'('.repeat(450)}@${')'.repeat(450)}]' }}`, [1]],
  ['descending into deep data', "{{ data | json: '$..b' }}", nested(5_000, 1)],
  ['text of deep data', '{{ data | stringify }}', nested(5_000, 1)],
  ['a standard filter on deep data', '{{ data | upcase }}', nested(5_000, 1)],
  ['a deep template', nested(5_000, '{{ data }}'), 1],
  ['brackets', `{{ data${'['.repeat(5_000)} }}`, 1],
  ['parentheses', `{{ ${'('.repeat(5_000)} }}`, 1],
  ['unclosed braces', '{{ '.repeat(100_000), 1],
  ['braces and quotes', "{{ 'a }}".repeat(100_000), 1],
  ['tags', '{% '.repeat(300_000), 1],
  ['padding to a gigabyte', "{{ data | pad_left: 1000000000, '0' }}", 'a'],
  ['padding again and again', piped("pad_left: 250000, 'x'", 300), 'a'],
  ['doubling by encoding', piped('to_base64', 200), 'a'.repeat(1_000)],
  ['growing by replacement', `{{ data | replace: 'a', '${'x'.repeat(1_900)}' }}`, 'a'.repeat(90_000)],
  ['joining again and again', piped("split: '' | join: 'aaaa'", 30), 'a'.repeat(1_000)],
  ['a range', '{{ (1..1000000000) | join }}', 1],
  ['a range as an argument', '{{ data | concat: (1..1000000000) }}', [1]],
  ['a range as an index', '{{ data[(1..1000000000)] }}', [1]],
  ['sorting again and again', piped('sort', 500), list(5_000, (index) => (index * 7_919) % 10_007)],
  ['a property of many names', `{{ data | where: '${'a.'.repeat(900)}a' }}`, list(2_000, () => ({ a: 1 }))],
  ['a program for a date', `{{ data | date: '${'%Z%P%A'.repeat(300)}' }}`, '2031-01-01'],
  ['a wide date', "{{ data | date: '%999999999Y' }}", '2031-01-01'],
  ['masking a long text again and again', piped('reveal_last: 4', 500), million],
  ['an alias of a long text', '{{ data | alias_preserve_length }}', million],
  ['many expressions', list(20_000, () => '{{ data | upcase }}'), 'a'],
  ['one text of many expressions', '{{data|upcase}}'.repeat(6_000), 'a'],
  ['members that shadow methods', '{{ data | upcase }}', { toString: 1, valueOf: 2, toLiquid: 3, then: 4 }],
];

describe('hostile expressions', () => {
  for (const [name, template, data] of attacks) {
    it(`answer or are refused in bounded time: ${name}`, () => {
      const started = cpuMs();
      try {
        const size = JSON.stringify(evaluateTemplate(template, { data })).length;
        expect(size).to.be.lessThan(10 * 1024 * 1024);
      } catch (error) {
        expect(error).to.be.instanceOf(DomainError).with.property('kind', 'invalid');
      }
      expect(cpuMs() - started).to.be.lessThan(LONGEST_CPU_MS);
    });
  }

  it('cannot multiply one large token', () => {
    const tokens = new Map([['abc', { data: list(150_000, Number), token: {} }]]);
    const started = cpuMs();
    expect(() =>
      resolveReferences(
        list(50_000, () => '{{ abc }}'),
        { tokens },
      ),
    ).to.throw(DomainError);
    expect(cpuMs() - started).to.be.lessThan(LONGEST_CPU_MS);
  });
});
