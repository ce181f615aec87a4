import { EXHAUSTED, STOPPED } from './types.ts';
import type { HostileReactor } from './types.ts';

const FOR_EVER = 'await new Promise(() => {})';

/** Code that does not come to an end, in every way in which code can be entered. */
export const HOSTILE_IN_TIME: readonly HostileReactor[] = [
  { name: 'an endless loop', body: 'while (1);', kinds: STOPPED },
  {
    name: 'an endless loop that catches everything',
    body: 'while (1) try { while (1); } finally { continue }',
    kinds: STOPPED,
  },
  { name: 'a wait for a far time', body: 'while (Date.now() < 1e15);', kinds: STOPPED },
  {
    name: 'an endless generator',
    body: 'for (const one of (function* () { while (1) yield 1 })()) void one',
    kinds: STOPPED,
  },
  {
    name: 'an endless asynchronous generator',
    body: 'for await (const one of (async function* () { while (1) yield 1 })()) void one',
    kinds: STOPPED,
  },
  {
    name: 'recursion that catches its own overflow',
    body: 'const f = () => { try { f() } catch { f() } }; f()',
    kinds: STOPPED,
  },
  {
    name: 'endless asynchronous recursion',
    body: 'const f = async () => { await null; return f() }; await f()',
    kinds: ['timed-out', 'out-of-memory', 'crashed'],
  },
  {
    name: 'an endless chain of microtasks',
    body: 'const spin = () => Promise.resolve().then(spin); await spin()',
    kinds: ['timed-out', 'out-of-memory', 'crashed'],
  },
  {
    name: 'a flood by queueMicrotask',
    body: `const spin = () => queueMicrotask(spin); spin(); ${FOR_EVER}`,
    kinds: STOPPED,
  },
  { name: 'a promise that never settles', body: FOR_EVER, kinds: STOPPED },
  { name: 'a thenable that never settles', body: 'return { then() {} }', kinds: STOPPED },
  { name: 'a thenable that loops', body: 'return { then() { while (1); } }', kinds: STOPPED },
  {
    name: 'a thenable that resolves to itself',
    body: 'const self = { then(to) { to(self) } }; return self',
    kinds: STOPPED,
  },
  { name: 'a getter of `then` that loops', body: 'return { get then() { while (1); } }', kinds: STOPPED },
  { name: 'a loop in a timer', body: `setTimeout(() => { while (1); }, 1); ${FOR_EVER}`, kinds: STOPPED },
  {
    name: 'timers that keep all others from running',
    body: `const again = () => setTimeout(again, 0); for (let i = 0; i < 99; i++) again(); ${FOR_EVER}`,
    kinds: STOPPED,
  },
  {
    name: 'intervals of long stretches',
    body: `setInterval(() => { for (let i = 0; i < 3e6; i++); }, 1); ${FOR_EVER}`,
    kinds: STOPPED,
  },
  { name: 'more timers than allowed', body: 'while (1) setTimeout(() => {}, 1e6)', kinds: ['threw'] },
  {
    name: 'a loop in Symbol.toPrimitive',
    body: 'return { raw: `${{ [Symbol.toPrimitive]() { while (1); } }}` }',
    kinds: STOPPED,
  },
  { name: 'a sort that never ends', body: 'return { raw: [2, 1, 3].sort(() => { while (1); }) }', kinds: STOPPED },
  {
    name: 'a regular expression that backtracks',
    body: `return { raw: /^(a+)+$/.test('a'.repeat(40) + 'b') }`,
    kinds: STOPPED,
  },
  {
    name: 'a replacement that backtracks',
    body: `return { raw: ('a'.repeat(40) + 'b').replace(/(a|aa)+$/, '') }`,
    kinds: STOPPED,
  },
  {
    name: 'a regular expression of a million groups',
    body: `return { raw: new RegExp('(a'.repeat(1e6) + ')'.repeat(1e6)).test('a') }`,
    kinds: EXHAUSTED,
  },
  { name: 'squares of a BigInt', body: 'let n = 3n; while (1) n *= n', kinds: EXHAUSTED },
  { name: 'a huge BigInt in decimal', body: 'return { raw: (2n ** 30000000n).toString().length }', kinds: EXHAUSTED },
  { name: 'a power of BigInts beyond all bounds', body: 'return { raw: String(2n ** (2n ** 60n)) }', kinds: EXHAUSTED },
  {
    name: 'a Proxy with endless keys',
    body: `return { raw: { ...new Proxy({}, { ownKeys() { while (1); } }) } }`,
    kinds: STOPPED,
  },
  {
    name: 'an endless iterator in a spread',
    body: 'return { raw: Math.max(...{ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) }) }',
    kinds: EXHAUSTED,
  },
  { name: 'a loop behind eval', body: `return { raw: (0, eval)('while (1);') }`, kinds: STOPPED },
  { name: 'a loop behind new Function', body: `return { raw: new Function('while (1);')() }`, kinds: STOPPED },
  {
    name: 'a loop in a callback of a given class',
    body: `const e = new (require('events'))(); e.on('x', () => { while (1); }); e.emit('x')`,
    kinds: STOPPED,
  },
  {
    name: 'a loop in a promise of a class of its own',
    body: 'class P extends Promise { then() { while (1); } } return new P(() => {})',
    kinds: STOPPED,
  },
];
