import { EXHAUSTED } from './types.ts';
import type { HostileReactor, OutcomeKind } from './types.ts';

/** A call of ours that refuses so large an input may also answer with nothing. */
const REFUSED_OR_EXHAUSTED: readonly OutcomeKind[] = [...EXHAUSTED, 'returned'];

/** Code that wants more memory than there is, inside V8's heap and outside of it. */
export const HOSTILE_IN_MEMORY: readonly HostileReactor[] = [
  { name: 'a growing array', body: 'const all = []; while (1) all.push(new Array(1e4).fill(1))', kinds: EXHAUSTED },
  { name: 'one array of a thousand million', body: 'return { raw: Array(1e9).fill(0).length }', kinds: EXHAUSTED },
  {
    name: 'an array of any length',
    body: 'return { raw: Array.from({ length: 2 ** 32 - 1 }).length }',
    kinds: EXHAUSTED,
  },
  {
    name: 'a string that doubles',
    body: `let s = 'x'; const all = []; while (1) { s += s; all.push(s.split('')) }`,
    kinds: EXHAUSTED,
  },
  {
    name: 'flattened strings',
    body: `const all = []; while (1) all.push(('x'.repeat(1e7) + all.length).slice(1).normalize('NFD'))`,
    kinds: EXHAUSTED,
  },
  {
    name: 'a padded string',
    body: `const all = []; while (1) all.push([...'x'.padEnd(2 ** 22, 'yz')])`,
    kinds: EXHAUSTED,
  },
  { name: 'a split of a large string', body: `return { raw: 'a'.repeat(2 ** 28).split('').length }`, kinds: EXHAUSTED },
  {
    name: 'a replacement that amplifies',
    body: 'return { raw: "x".repeat(5e7).replace(/x/g, "$`").length }',
    kinds: EXHAUSTED,
  },
  {
    name: 'a replacement that doubles',
    body: `let s = 'xy'; while (1) s = s.replace(/[xy]/g, '$&$&') `,
    kinds: EXHAUSTED,
  },
  { name: 'a growing Map', body: 'const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })', kinds: EXHAUSTED },
  { name: 'a growing Set', body: 'const set = new Set(); for (let i = 0; ; i++) set.add(`${i}`)', kinds: EXHAUSTED },
  {
    name: 'a growing WeakMap',
    body: 'const map = new WeakMap(), all = []; while (1) { const key = {}; all.push(key); map.set(key, [key]) }',
    kinds: EXHAUSTED,
  },
  {
    name: 'endless registered symbols',
    body: 'for (let i = 0; ; i++) Symbol.for(`symbol ${i}`.padEnd(1e4))',
    kinds: EXHAUSTED,
  },
  {
    name: 'properties without end',
    body: 'const all = {}; for (let i = 0; ; i++) all[`key ${i}`] = i',
    kinds: EXHAUSTED,
  },
  {
    name: 'promises that wait',
    body: 'const all = []; while (1) all.push(new Promise(() => {}).then(() => {}))',
    kinds: EXHAUSTED,
  },
  {
    name: 'closures that hold on',
    body: 'let last = null; while (1) { const before = last; last = () => [before, new Array(99)] }',
    kinds: EXHAUSTED,
  },
  { name: 'array buffers', body: 'const all = []; while (1) all.push(new ArrayBuffer(1e7))', kinds: EXHAUSTED },
  {
    name: 'typed arrays that are written to',
    body: 'const all = []; while (1) all.push(new Uint8Array(1e7).fill(1))',
    kinds: EXHAUSTED,
  },
  {
    name: 'a resizable array buffer',
    body: `const all = []; while (1) { const b = new ArrayBuffer(0, { maxByteLength: 2 ** 29 }); b.resize(2 ** 29); new Uint8Array(b).fill(1); all.push(b) }`,
    kinds: EXHAUSTED,
  },
  {
    name: 'reserved address space',
    body: 'const all = []; while (1) all.push(new ArrayBuffer(0, { maxByteLength: 2 ** 32 }))',
    kinds: EXHAUSTED,
  },
  {
    name: 'transferred array buffers',
    body: 'const all = []; while (1) all.push(new ArrayBuffer(8).transfer(1e7))',
    kinds: EXHAUSTED,
  },
  { name: 'BigInts in an array', body: 'const all = []; while (1) all.push(1n << 1000000n)', kinds: EXHAUSTED },
  {
    name: 'JSON of five million levels',
    body: `return { raw: JSON.parse('['.repeat(5e6) + ']'.repeat(5e6)).length }`,
    kinds: EXHAUSTED,
  },
  {
    name: 'JSON of a hundred million members',
    body: `return { raw: JSON.parse('[' + '0,'.repeat(1e8) + '0]').length }`,
    kinds: EXHAUSTED,
  },
  {
    name: 'source of a million levels',
    body: `return { raw: eval('['.repeat(1e6) + ']'.repeat(1e6)).length }`,
    kinds: EXHAUSTED,
  },
  { name: 'source of a hundred megabytes', body: `return { raw: new Function('x;'.repeat(5e7))() }`, kinds: EXHAUSTED },
  {
    name: 'functions without end',
    body: 'const all = []; for (let i = 0; ; i++) all.push(new Function(`return ${i} + "${"x".repeat(1e4)}"`))',
    kinds: EXHAUSTED,
  },
  {
    name: 'a clone of a thing that grows',
    body: 'let one = [0]; while (1) one = [structuredClone(one), structuredClone(one)]',
    kinds: EXHAUSTED,
  },
  {
    name: 'a clone of a million levels',
    body: 'let deep = []; for (let i = 0; i < 1e6; i++) deep = [deep]; return { raw: structuredClone(deep).length }',
    kinds: EXHAUSTED,
  },
  { name: 'a huge Buffer', body: 'const all = []; while (1) all.push(Buffer.alloc(2 ** 30, 1))', kinds: EXHAUSTED },
  {
    name: 'a Buffer that doubles',
    body: `let b = Buffer.from('xy'); while (1) b = Buffer.concat([b, b])`,
    kinds: EXHAUSTED,
  },
  {
    name: 'text encoded without end',
    body: `const all = []; while (1) all.push(new TextEncoder().encode('é'.repeat(1e6)))`,
    kinds: EXHAUSTED,
  },
  {
    name: 'a decoded text that is too large',
    body: 'return { raw: new TextDecoder().decode(new Uint8Array(2 ** 29)).length }',
    kinds: EXHAUSTED,
  },
  { name: 'base64 of a large text', body: `return { raw: btoa('x'.repeat(2 ** 27)).length }`, kinds: EXHAUSTED },
  {
    name: 'too many random bytes',
    body: `return { raw: require('crypto').randomBytes(2 ** 31).length }`,
    kinds: REFUSED_OR_EXHAUSTED,
  },
  {
    name: 'a hash of a large text',
    body: `return { raw: require('crypto').createHash('sha256').update('x'.repeat(2 ** 28)).digest('hex').length }`,
    kinds: REFUSED_OR_EXHAUSTED,
  },
  {
    name: 'a URL of a hundred megabytes',
    body: `return { raw: new URL('http://x/' + 'ü'.repeat(1e8)).href.length }`,
    kinds: REFUSED_OR_EXHAUSTED,
  },
  {
    name: 'a query of ten million members',
    body: `return { raw: [...new URLSearchParams('a&'.repeat(1e7))].length }`,
    kinds: EXHAUSTED,
  },
  {
    name: 'memory that a getter takes',
    body: 'return { get raw() { const all = []; while (1) all.push(new Array(1e4).fill(1)) } }',
    kinds: EXHAUSTED,
  },
  {
    name: 'memory that a timer takes',
    body: 'const all = []; setInterval(() => all.push(new Uint8Array(1e7).fill(1)), 0); await new Promise(() => {})',
    kinds: EXHAUSTED,
  },
];
