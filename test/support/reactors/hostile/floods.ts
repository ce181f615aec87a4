import { EXHAUSTED, STOPPED } from './types.ts';
import type { HostileReactor, OutcomeKind } from './types.ts';

const FOR_EVER = 'await new Promise(() => {})';
/** It is told so shortly before its time is over, which ends it; on a machine that is busy, too late. */
const UNANSWERED: readonly OutcomeKind[] = [...STOPPED, 'threw'];
const BOUNDED: readonly OutcomeKind[] = [...EXHAUSTED, 'returned'];

/** Code that says too much to the host, whose answers cost the host something. */
export const HOSTILE_IN_FLOODS: readonly HostileReactor[] = [
  { name: 'lines on the console without end', body: `while (1) console.log('x'.repeat(1000))`, kinds: STOPPED },
  {
    name: 'one line of 100 MB on the console',
    body: `console.log('x'.repeat(1e8)); return { raw: 'said' }`,
    kinds: BOUNDED,
    raw: 'said',
  },
  {
    name: 'a thing on the console whose getters loop',
    body: `console.log({ get a() { while (1); } }, new Proxy({}, { ownKeys() { while (1); } })); return { raw: 'said' }`,
    kinds: ['timed-out', 'returned'],
    raw: 'said',
  },
  {
    name: 'a thing on the console that throws from every trap',
    body: `console.error(new Proxy({}, new Proxy({}, { get() { throw 1 } }))); return { raw: 'said' }`,
    kinds: ['returned', 'threw'],
    raw: 'said',
  },
  {
    name: 'a deep thing on the console',
    body: `let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; console.log(deep, '%s%j%o', deep); return { raw: 'said' }`,
    kinds: BOUNDED,
    raw: 'said',
  },
  {
    name: 'a loop of console lines from timers',
    body: `setInterval(() => { for (let i = 0; i < 1000; i++) console.error('x', i) }, 0); ${FOR_EVER}`,
    kinds: STOPPED,
  },
  {
    name: 'hashes without end',
    body: `while (1) require('crypto').createHash('sha512').update('x').digest()`,
    kinds: STOPPED,
  },
  { name: 'random bytes without end', body: `while (1) require('crypto').randomBytes(65536)`, kinds: EXHAUSTED },
  { name: 'URLs without end', body: `while (1) new URL('http://example.com/' + 'a'.repeat(1000))`, kinds: STOPPED },
  {
    name: 'timers set and cleared without end',
    body: 'while (1) clearTimeout(setTimeout(() => {}, 1))',
    kinds: STOPPED,
  },
  {
    name: 'more calls to svc than allowed',
    body: `const calls = []; for (let i = 0; i < 1000; i++) calls.push(req.svc.tokens.retrieve('x')); await Promise.all(calls)`,
    kinds: ['threw'],
    svc: true,
  },
  {
    name: 'calls to svc that nobody answers',
    body: `await req.svc.tokens.create({ type: 'token', data: 1 })`,
    kinds: UNANSWERED,
    svc: true,
  },
  {
    name: 'a call to svc of 100 MB',
    body: `await req.svc.tokens.create({ data: 'x'.repeat(1e8) })`,
    kinds: EXHAUSTED,
    svc: true,
  },
  {
    name: 'a call to svc for another path',
    body: `await req.svc.tokens.retrieve('../../applications')`,
    kinds: UNANSWERED,
    svc: true,
  },
  {
    name: 'a call to svc whose input loops',
    body: 'await req.svc.tokens.create({ toJSON() { while (1); } })',
    kinds: STOPPED,
    svc: true,
  },
  {
    name: 'refused calls to svc without end',
    body: `for (let i = 0; i < 20; i++) req.svc.tokens.retrieve('x').catch(() => {}); while (1) req.svc.tokens.retrieve('x').catch(() => {})`,
    kinds: ['timed-out', 'out-of-memory', 'crashed'],
    svc: true,
  },
];
