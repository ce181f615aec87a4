import type { HostileReactor, OutcomeKind } from './types.ts';

/** It harms its own answer at most: whatever that is, it is one, and it comes from this code alone. */
const OWN_HARM: readonly OutcomeKind[] = [
  'returned',
  'threw',
  'invalid-result',
  'timed-out',
  'crashed',
  'out-of-memory',
];

const POLLUTIONS: Record<string, string> = {
  'Promise.prototype.then': `Promise.prototype.then = function () { while (1); }`,
  'Promise.prototype.constructor': `Promise.prototype.constructor = function () { throw 1 }`,
  'Promise.resolve': `Promise.resolve = Promise.reject = () => { throw 1 }`,
  'Symbol.species of Promise': `Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } })`,
  'the global Promise': `globalThis.Promise = class { then() { while (1); } }`,
  'Array.prototype[Symbol.iterator]': `Array.prototype[Symbol.iterator] = function* () { yield 'stolen' }`,
  'the iterator of arrays': `Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ value: 'stolen', done: false })`,
  'methods of Array.prototype': `for (const name of ['push', 'map', 'find', 'join', 'flat', 'every', 'shift']) Array.prototype[name] = () => { throw 1 }`,
  'setters of Array.prototype': `for (const i of [0, 1, 2]) Object.defineProperty(Array.prototype, i, { set() { throw 1 }, get() { return 'stolen' } })`,
  'Array.isArray': `Array.isArray = () => true`,
  'Symbol.species of Array': `Object.defineProperty(Array, Symbol.species, { get() { throw 1 } })`,
  'Object.prototype.toJSON': `Object.prototype.toJSON = () => ({ status: 200, class: 'AuthenticationError', stolen: true })`,
  'Object.prototype.then': `Object.defineProperty(Object.prototype, 'then', { get() { throw 1 } })`,
  'Object.prototype.get and set': `Object.prototype.get = Object.prototype.set = () => 'stolen'`,
  'Object.prototype.value': `Object.defineProperty(Object.prototype, 'value', { get: () => 'stolen', set() { throw 1 } })`,
  'Object.prototype.raw': `Object.defineProperty(Object.prototype, 'raw', { get: () => 'stolen', configurable: true })`,
  'Object.prototype.errors and class': `Object.prototype.errors = { a: ['b'] }; Object.prototype.class = 'AuthenticationError'`,
  'Object.prototype.timeout': `Object.prototype.timeout = 1e9; Object.prototype.result = { reference: true }`,
  'Object.prototype.__proto__': `Object.defineProperty(Object.prototype, '__proto__', { get() { throw 1 } })`,
  'functions of Object': `for (const name of Object.getOwnPropertyNames(Object)) if (typeof Object[name] === 'function') Object[name] = () => { throw 1 }`,
  'Object.prototype itself': `Object.setPrototypeOf(globalThis, null); Object.freeze(Object.prototype)`,
  'JSON.stringify and parse': `JSON.stringify = JSON.parse = () => '{"stolen":true}'`,
  'the global JSON': `globalThis.JSON = new Proxy({}, { get() { throw 1 } })`,
  Reflect: `for (const name of Reflect.ownKeys(Reflect)) delete Reflect[name]; globalThis.Reflect = null`,
  'Function.prototype.call and apply': `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { while (1); }`,
  'Function.prototype[Symbol.hasInstance]': `for (const c of [Error, Array, Object]) Object.defineProperty(c, Symbol.hasInstance, { value: () => true })`,
  'Function.prototype.toString': `Function.prototype.toString = () => { throw 1 }`,
  'Map.prototype': `for (const name of ['get', 'set', 'has', 'delete', 'keys']) Map.prototype[name] = () => { throw 1 }`,
  'Set.prototype': `for (const name of ['add', 'has', 'delete']) Set.prototype[name] = () => { throw 1 }`,
  'WeakMap.prototype': `for (const name of ['get', 'set', 'has']) WeakMap.prototype[name] = () => { throw 1 }`,
  'RegExp.prototype.exec': `RegExp.prototype.exec = () => { while (1); }`,
  'RegExp.prototype[Symbol.replace]': `for (const s of [Symbol.replace, Symbol.match, Symbol.split]) Object.defineProperty(RegExp.prototype, s, { value() { throw 1 } })`,
  'RegExp.prototype.test': `RegExp.prototype.test = () => true`,
  'methods of String.prototype': `for (const name of Object.getOwnPropertyNames(String.prototype)) if (name !== 'constructor' && name !== 'length') String.prototype[name] = () => { throw 1 }`,
  'the globals String and Number': `globalThis.String = globalThis.Number = globalThis.Boolean = () => { throw 1 }`,
  'Error.prepareStackTrace': `Error.prepareStackTrace = (_, frames) => { throw frames }`,
  'Error.prepareStackTrace that loops': `Error.prepareStackTrace = () => { while (1); }`,
  'Error.stackTraceLimit': `Object.defineProperty(Error, 'stackTraceLimit', { get() { throw 1 } })`,
  'Error.captureStackTrace': `Error.captureStackTrace = () => { throw 1 }`,
  'stack of Error.prototype': `Object.defineProperty(Error.prototype, 'stack', { get() { while (1); } })`,
  'the built-in errors': `for (const name of ['Error', 'TypeError', 'RangeError']) globalThis[name] = class { constructor() { while (1); } }`,
  'methods of typed arrays': `const p = Object.getPrototypeOf(Uint8Array.prototype); for (const name of ['set', 'subarray', 'slice', 'fill']) p[name] = () => { throw 1 }`,
  'the class Buffer': `for (const name of Object.getOwnPropertyNames(Buffer.prototype)) try { Buffer.prototype[name] = () => { throw 1 } } catch {}`,
  'Symbol.iterator of strings': `String.prototype[Symbol.iterator] = () => { throw 1 }`,
  Proxy: `globalThis.Proxy = class { constructor() { throw 1 } }`,
  'the error classes': `const e = require('@tokenkeep/errors'); for (const name in e) { e[name].prototype.constructor = null; delete e[name] }`,
  'every global': `for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = undefined } catch {}`,
  'every method of every prototype': `for (const c of [Array, Map, Set, Promise, RegExp, Function, Date, Symbol]) for (const key of Reflect.ownKeys(c.prototype)) try { Object.defineProperty(c.prototype, key, { get() { throw 1 } }) } catch {}`,
};

/** The ways in which our own code runs once more after that of the reactor. */
const ENDINGS: Record<string, string> = {
  'then returned': 'return { raw: "own" }',
  'then thrown': 'throw new (class Own extends TypeError {})("own")',
  'then a timer': 'await new Promise((to) => setTimeout(to, 1)); return { raw: "own" }',
  'then an error class': `throw new (require('@tokenkeep/errors').BadRequestError)({ own: 'own' })`,
};

/** Code that overwrites what our own code inside the isolate could be relying on. */
export const HOSTILE_IN_PROTOTYPES: readonly HostileReactor[] = Object.entries(POLLUTIONS).flatMap(
  ([name, pollution], index) => {
    // All four are told apart by what they enter; two of them for each keeps the whole short.
    const endings = Object.entries(ENDINGS);
    return [endings[index % 4]!, endings[(index + 1) % 4]!].map(([then, ending]) => ({
      name: `${name}, ${then}`,
      body: `${pollution}; ${ending}`,
      kinds: OWN_HARM,
      raw: 'own',
    }));
  },
);
