import type { HostileReactor } from './types.ts';

/** What one request leaves behind for the next, which is asked for all of it; `req.args.secret` is what it knows. */
const STAINS: Record<string, string> = {
  'a global': 'globalThis.leak = req.args.secret',
  'a global that hides': `Object.defineProperty(globalThis, 'leak', { value: req.args.secret, enumerable: false })`,
  'a symbol of a global': 'globalThis[Symbol.for("leak")] = req.args.secret',
  'a variable of the module': '(0, eval)("var leak = 1"); leak = req.args.secret',
  'a member of Object.prototype': 'Object.prototype.leak = req.args.secret',
  'a getter of Object.prototype': `const { secret } = req.args; Object.defineProperty(Object.prototype, 'leak', { get: () => secret })`,
  'a setter that steals arguments': `Object.defineProperty(Object.prototype, 'secret', { set(value) { Object.prototype.leak = value } })`,
  'a trap before the prototypes': `Object.setPrototypeOf(Object.prototype.__proto__ ?? globalThis, new Proxy({}, { get: () => req.args.secret }))`,
  'a changed built-in': 'const { secret } = req.args; JSON.parse = () => secret; Promise.prototype.then = () => secret',
  'a changed iterator': 'const { secret } = req.args; Array.prototype[Symbol.iterator] = function* () { yield secret }',
  'a changed module': `require('util').leak = require('crypto').leak = require('@tokenkeep/errors').leak = req.args.secret`,
  'a changed class of a module': `require('@tokenkeep/errors').BadRequestError.prototype.leak = Buffer.prototype.leak = req.args.secret`,
  'a changed require': 'require.leak = req.args.secret; require.constructor.prototype.leak = req.args.secret',
  'a changed svc and console': 'console.leak = req.args.secret; console.log = () => req.args.secret',
  'the last match of RegExp': '/(.*)/.exec(req.args.secret)',
  'a registered symbol': 'Symbol.for(req.args.secret)',
  'a setting of Error': 'Error.stackTraceLimit = 0; Error.prepareStackTrace = () => req.args.secret',
  'a cached template':
    'const tag = (strings) => strings; tag`x`.leak ?? Object.isFrozen(tag`x`); globalThis.t = tag`${req.args.secret}`',
  'a timer that is still to come': 'setTimeout(() => { globalThis.leak = req.args.secret; while (1); }, 60)',
  'an interval': 'setInterval(() => { Object.prototype.leak = req.args.secret }, 1)',
  'a promise that waits on':
    '(async () => { for (;;) { await new Promise((to) => setTimeout(to, 5)); globalThis.leak = req.args.secret } })()',
  'microtasks that go on':
    'const go = () => { globalThis.leak = req.args.secret; if (Date.now() % 7) queueMicrotask(go) }; go()',
  'a call to svc that is still under way': `req.svc.tokens.retrieve('x').catch(() => { globalThis.leak = req.args.secret })`,
  'a frozen world': 'Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis)',
};

/** Code that leaves something of one request to the next, or goes on after its answer. */
export const HOSTILE_TO_REQUESTS: readonly HostileReactor[] = Object.entries(STAINS).map(([name, stain]) => ({
  name,
  body: `try { ${stain} } catch {} return { raw: 'left' }`,
  kinds: ['returned', 'timed-out', 'threw', 'invalid-result'],
  raw: 'left',
  ...(stain.includes('svc.') ? { svc: true as const } : {}),
}));
