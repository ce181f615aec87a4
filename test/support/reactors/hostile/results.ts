import { EXHAUSTED, STOPPED } from './types.ts';
import type { HostileReactor, OutcomeKind } from './types.ts';

const NEEDS = `const errors = require('@tokenkeep/errors');`;
const DEEP = 'let deep = []; for (let i = 0; i < LEVELS; i++) deep = [deep];';
const TOO_MUCH: readonly OutcomeKind[] = ['result-too-large', 'invalid-result', ...EXHAUSTED];

/** Results and errors that strike whoever looks at them. */
export const HOSTILE_IN_RESULTS: readonly HostileReactor[] = [
  { name: 'a getter of the result that loops', body: 'return { get raw() { while (1); } }', kinds: STOPPED },
  {
    name: 'a getter of the result that throws',
    body: 'return { get raw() { throw new Error(req.args.secret) } }',
    kinds: ['invalid-result'],
  },
  {
    name: 'a getter that throws what loops',
    body: 'return { get raw() { throw { get message() { while (1); } } } }',
    kinds: ['invalid-result'],
  },
  { name: 'a toJSON that loops', body: 'return { raw: { toJSON() { while (1); } } }', kinds: STOPPED },
  { name: 'a toJSON that throws', body: 'return { raw: { toJSON() { throw null } } }', kinds: ['invalid-result'] },
  {
    name: 'a toJSON that gives a function',
    body: 'return { raw: { toJSON: () => () => {} } }',
    kinds: ['invalid-result'],
  },
  { name: 'a toJSON that grows', body: `return { raw: { toJSON: () => 'x'.repeat(2 ** 28) } }`, kinds: TOO_MUCH },
  {
    name: 'a Proxy as the result',
    body: `return new Proxy({}, { get: (_, name) => name === 'then' ? undefined : String(name) })`,
    kinds: ['returned'],
    raw: 'raw',
  },
  {
    name: 'a Proxy that throws from every trap',
    body: 'return { raw: new Proxy({}, new Proxy({}, { get() { throw 1 } })) }',
    kinds: ['invalid-result'],
  },
  {
    name: 'a revoked Proxy',
    body: 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { raw: proxy }',
    kinds: ['invalid-result'],
  },
  {
    name: 'a result that holds itself',
    body: 'const raw = {}; raw.raw = raw; return { raw }',
    kinds: ['invalid-result'],
  },
  { name: 'a result without JSON form', body: 'return { raw: 1n }', kinds: ['invalid-result'] },
  { name: 'a list as the result', body: `return ['raw']`, kinds: ['invalid-result'] },
  {
    name: 'a member named __proto__',
    body: `return { raw: JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}') && 'kept' }`,
    kinds: ['returned'],
    raw: 'kept',
  },
  {
    name: 'lone surrogates and NUL',
    body: `return { raw: '\\ud800\\u0000' }`,
    kinds: ['returned'],
    raw: '\ud800\u0000',
  },
  {
    name: 'numbers that JSON has not',
    body: 'return { raw: [NaN, Infinity, -0] }',
    kinds: ['returned'],
    raw: [null, null, 0],
  },
  { name: 'a result of 500 MB', body: `return { raw: 'x'.repeat(5e8) }`, kinds: TOO_MUCH },
  {
    name: 'a result just over the limit',
    body: `return { raw: 'x'.repeat(1024 * 1024) }`,
    kinds: ['result-too-large'],
  },
  {
    name: 'a result of bytes that JSON makes six of',
    body: `return { raw: '\\u0001'.repeat(1e6) }`,
    kinds: ['result-too-large'],
  },
  {
    name: 'both parts of a result just under the limit',
    body: `return { raw: 'x'.repeat(1e6), tokenize: 'x'.repeat(1e6) }`,
    kinds: ['result-too-large'],
  },
  {
    name: 'a result too deep to write',
    body: `${DEEP.replace('LEVELS', '1e6')} return { raw: deep }`,
    kinds: ['invalid-result', ...EXHAUSTED],
  },
  {
    name: 'a result too deep to read',
    body: `${DEEP.replace('LEVELS', '2000')} return { raw: deep }`,
    kinds: ['invalid-result'],
  },
  {
    name: 'a result as large as allowed of opening brackets',
    body: `return { raw: '['.repeat(1e6) }`,
    kinds: ['returned', 'invalid-result'],
  },
  {
    name: 'a million members',
    body: `return { raw: Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => [i, i])) }`,
    kinds: ['result-too-large', ...EXHAUSTED],
  },
  {
    name: 'a thrown value whose getters loop',
    body: 'throw { get message() { while (1); }, get stack() { while (1); } }',
    kinds: STOPPED,
  },
  {
    name: 'a thrown Proxy that loops',
    body: 'throw new Proxy({}, { getPrototypeOf() { while (1); } })',
    kinds: STOPPED,
  },
  {
    name: 'a thrown Proxy that throws',
    body: 'throw new Proxy(Error(), new Proxy({}, { get() { throw 1 } }))',
    kinds: ['threw'],
  },
  {
    name: 'prototypes without end',
    body: 'const p = new Proxy({}, { getPrototypeOf: () => p }); throw p',
    kinds: STOPPED,
  },
  { name: 'a thrown error of 100 MB', body: `throw new Error('x'.repeat(1e8))`, kinds: EXHAUSTED },
  {
    name: 'a name of an error of 100 MB',
    body: `throw Object.assign(new Error(), { name: 'x'.repeat(1e8), stack: 'x'.repeat(1e8) })`,
    kinds: EXHAUSTED,
  },
  {
    name: 'a stack that pretends',
    body: `throw Object.assign(new Error(), { stack: 'reactor.js:' + '9'.repeat(400) })`,
    kinds: ['threw'],
  },
  {
    name: 'an error class with two megabytes',
    body: `${NEEDS} throw new errors.BadRequestError('x'.repeat(2e6))`,
    kinds: ['result-too-large'],
  },
  {
    name: 'an error class with members that loop',
    body: `${NEEDS} throw new errors.BadRequestError({ get a() { while (1); } })`,
    kinds: STOPPED,
  },
  {
    name: 'an error class that pretends to be one',
    body: `${NEEDS} throw Object.create(errors.AuthenticationError.prototype, { errors: { value: { a: ['b'] } } })`,
    kinds: ['threw'],
  },
  {
    name: 'a response with a header that splits it',
    body: `${NEEDS} throw new errors.CustomHttpResponseError({ status: 200, headers: { 'x-a': 'b\\r\\nset-cookie: c' }, body: {} })`,
    kinds: ['invalid-result'],
  },
  {
    name: 'a response with a header of two megabytes',
    body: `${NEEDS} throw new errors.CustomHttpResponseError({ status: 200, headers: { 'x-a': 'b'.repeat(2e6) }, body: {} })`,
    kinds: ['result-too-large'],
  },
  {
    name: 'a response with a thousand headers',
    body: `${NEEDS} throw new errors.CustomHttpResponseError({ status: 200, headers: Object.fromEntries(Array.from({ length: 1e3 }, (_, i) => ['x-' + i, 'y'])), body: {} })`,
    kinds: ['invalid-result'],
  },
  {
    name: 'a response of status 101',
    body: `${NEEDS} throw new errors.CustomHttpResponseError({ status: 101, headers: {}, body: {} })`,
    kinds: ['invalid-result'],
  },
  {
    name: 'a response whose status loops',
    body: `${NEEDS} throw new errors.CustomHttpResponseError({ get status() { while (1); } })`,
    kinds: STOPPED,
  },
  {
    name: 'a response with a deep body',
    body: `${NEEDS} ${DEEP.replace('LEVELS', '5000')} throw new errors.CustomHttpResponseError({ status: 200, headers: {}, body: deep })`,
    kinds: ['invalid-result'],
  },
];
