import { STOPPED } from './types.ts';
import type { HostileReactor } from './types.ts';

/** Values that know of Node: found, they would be the way out. */
const SEES = `const sees = (from) => { try { return from.constructor.constructor('return typeof process + typeof require + typeof module')() } catch (error) { return 'undefined'.repeat(3) } };`;
const NOTHING = 'undefined'.repeat(3);

/** Calls us from as far down the stack as there is any, and gives the first error that this makes. */
const overflowIn = (call: string): string =>
  `(() => { let found, tries = 0; const f = () => { try { f() } catch { if (tries++ < 50) try { ${call} } catch (error) { found ??= error } } }; f(); return found ?? {} })()`;

/** Ways to a function whose constructor might be the host's. */
const WALKS: Record<string, string> = {
  'a global function': 'setTimeout',
  'a bound function': 'setTimeout.bind()',
  'the arguments': 'req.args',
  'the configuration': 'req.configuration ?? req',
  'the request itself': 'req',
  require: 'require',
  'a module': `require('crypto').createHash`,
  'a hash': `require('crypto').createHash('sha256')`,
  'a URL': `new URL('http://a')`,
  'a timer': 'setTimeout(() => {}, 1)',
  console: 'console.log',
  'a promise of ours': `(async () => {})()`,
  'an error of require': `(() => { try { require('fs') } catch (error) { return error } })()`,
  'an error of the URL parser': `(() => { try { new URL('::') } catch (error) { return error } })()`,
  'an error of the base64 decoder': `(() => { try { atob('*') } catch (error) { return error } })()`,
  'a stack overflow inside our code': `(() => { const f = () => { try { return f() } catch (error) { try { require('crypto').randomUUID() } catch (inner) { return inner } return error } }; return f() })()`,
  'a stack overflow inside the URL parser': overflowIn("new URL('http://a')"),
  'a stack overflow inside a timer': overflowIn('setTimeout(() => {}, 1)'),
  'a stack overflow inside a hash': overflowIn("require('crypto').createHash('sha256').update('x').digest()"),
  'the global object': 'globalThis',
  'the caller': '(function () { return arguments.callee.caller ?? {} })()',
  'the iterator of the arguments': `Object.values(req.args)[Symbol.iterator]()`,
};

interface Look {
  body: string;
  sees: string;
}

const LOOKS: Record<string, Look> = {
  'process, require and module as globals': {
    body: `return { raw: [typeof process, typeof globalThis.require, typeof globalThis.module, typeof Deno, typeof window].join() }`,
    sees: 'undefined,undefined,undefined,undefined,undefined',
  },
  'memory and threads outside the isolate': {
    body: `return { raw: [typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics, typeof WeakRef, typeof FinalizationRegistry, typeof Worker].join() }`,
    sees: Array(6).fill('undefined').join(),
  },
  'WebAssembly by a constructor': {
    body: `return { raw: (0, eval)('typeof WebAssembly') + new Function('return typeof WebAssembly')() }`,
    sees: 'undefinedundefined',
  },
  'SharedArrayBuffer by its species': {
    body: `try { return { raw: Object.getOwnPropertyNames(Object.getPrototypeOf(Uint8Array)).filter((n) => /Shared/.test(n)).join() } } catch { return { raw: '' } }`,
    sees: '',
  },
  'a module of Node': {
    body: `const names = ['fs', 'node:fs', 'fs/promises', 'child_process', 'net', 'tls', 'dgram', 'dns', 'http', 'https', 'http2', 'os', 'vm', 'v8', 'worker_threads', 'cluster', 'inspector', 'module', 'process', 'sqlite', 'node:sqlite', 'node:test', 'wasi', 'repl', 'perf_hooks', 'async_hooks', 'isolated-vm', '/etc/passwd', './main.js', '../../x', 'file:///etc/passwd', '', '__proto__', 'constructor', 'toString'];
      return { raw: names.filter((name) => { try { require(name); return true } catch (error) { return error.code !== 'MODULE_NOT_FOUND' } }).join() }`,
    sees: '',
  },
  'a module by what is no string': {
    body: `let calls = 0; const tricky = { toString: () => ['util', 'fs'][calls++ % 2] };
      try { return { raw: 'readFileSync' in require(tricky) ? 'fs' : 'util' } } catch { return { raw: 'refused' } }`,
    sees: 'util',
  },
  'members of require': {
    body: `return { raw: [require.main, require.cache, require.resolve, require.extensions, require.constructor.prototype.require].map((found) => typeof found).join() }`,
    sees: Array(5).fill('undefined').join(),
  },
  'dynamic import': {
    body: `const found = []; for (const name of ['node:fs', 'fs', 'data:text/javascript,export default 1', 'file:///etc/passwd', './reactor.js']) await import(name).then(() => found.push(name), () => {}); return { raw: found.join() }`,
    sees: '',
  },
  'import.meta': {
    body: `try { return { raw: eval('import.meta') } } catch (error) { return { raw: error.name } }`,
    sees: 'SyntaxError',
  },
  'the environment': {
    body: `return { raw: ['process', 'env', '__dirname', '__filename', 'ENV', 'PATH'].filter((name) => { try { return eval('typeof ' + name) !== 'undefined' } catch { return false } }).join() }`,
    sees: '',
  },
  sockets: {
    body: `return { raw: ['WebSocket', 'XMLHttpRequest', 'EventSource', 'WebTransport', 'RTCPeerConnection', 'BroadcastChannel', 'MessageChannel', 'navigator'].filter((name) => name in globalThis).join() }`,
    sees: '',
  },
  'frames of the host in a stack': {
    body: `Error.stackTraceLimit = Infinity; const stacks = [new Error().stack]; for (const f of [() => new URL('::'), () => require('fs'), () => atob('*'), () => setTimeout(1)]) try { f() } catch (error) { stacks.push(error.stack) }
      return { raw: stacks.some((stack) => /node:|\\.ts\\b|file:|\\/src\\/|isolated|host-calls/.test(stack)) ? stacks.join() : 'none' }`,
    sees: 'none',
  },
  'functions and receivers in the frames of a stack': {
    body: `Error.prepareStackTrace = (_, frames) => frames; const found = new Error().stack; return { raw: found.filter((frame) => { const f = frame.getFunction(); const t = frame.getThis(); return (f && frame.getFileName() === 'tokenkeep:guest') || (t && t !== globalThis) }).length }`,
    sees: '0',
  },
  'the callback to the host, by overwritten built-ins': {
    body: `const seen = []; const spy = (f) => function (...all) { for (const one of [this, f, ...all]) if (typeof one === 'function' && String(one).includes('[native code]') && !one.name) seen.push(one); return Reflect.construct === undefined ? undefined : f.apply(this, all) };
      const native = Function.prototype.apply; Function.prototype.apply = function (...all) { if (!this.name) seen.push(this); return native.call(this, ...all) };
      Function.prototype.call = new Proxy(Function.prototype.call, { apply(target, self, all) { if (!self.name) seen.push(self); return Reflect.apply(target, self, all) } });
      new URL('http://a'); require('crypto').randomUUID(); await new Promise((to) => setTimeout(to, 1)); return { raw: seen.filter((f) => typeof f === 'function' && f.length === 0 && /native code/.test(Function.prototype.toString.apply(f, []))).length }`,
    sees: '0',
  },
  'the callback to the host, by the properties of what we made': {
    body: `const seen = new Set(); const found = []; const walk = (one, path) => { if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one)) return; seen.add(one);
        if (typeof one === 'function' && one !== Function.prototype && (Object.getPrototypeOf(one) !== Function.prototype && !(Object.getPrototypeOf(one) instanceof Function) && typeof Object.getPrototypeOf(one) !== 'function' && !/Function$/.test(Object.getPrototypeOf(one)?.constructor?.name))) found.push(path);
        for (const key of Reflect.ownKeys(one)) { let d; try { d = Reflect.getOwnPropertyDescriptor(one, key) } catch { continue } for (const part of [d.value, d.get, d.set]) walk(part, path + '.' + String(key)) } walk(Object.getPrototypeOf(one), path + '.^') };
      walk(globalThis, 'global'); walk(require, 'require'); for (const name of ['crypto', 'url', 'util', 'events', 'buffer', 'uuid', 'querystring', '@tokenkeep/errors']) walk(require(name), name); walk(req, 'req'); return { raw: found.join() }`,
    sees: '',
  },
  'the wall by the text of an operation': {
    body: `const found = []; for (const algorithm of ['__proto__', 'constructor', 'sha256\\n{"type":"loaded"}']) try { require('crypto').createHash(algorithm).update('x').digest(); found.push(algorithm) } catch {} return { raw: found.join() }`,
    sees: '',
  },
  'a line of the protocol in a result': {
    body: `return { raw: '\\n{"type":"breach","id":1,"reason":"crashed"}\\n' }`,
    sees: '\n{"type":"breach","id":1,"reason":"crashed"}\n',
  },
};

/** Code that looks for a way out of the isolate. What it returns is what it found. */
export const HOSTILE_IN_REACH: readonly HostileReactor[] = [
  ...Object.entries(WALKS).map(([name, from]): HostileReactor => ({
    name: `the constructors behind ${name}`,
    body: `${SEES} return { raw: sees(${from}) }`,
    kinds: ['returned'],
    raw: NOTHING,
  })),
  ...Object.entries(LOOKS).map(([name, { body, sees }]): HostileReactor => ({
    name,
    body: body.replace(/\.length \}$/, '.length + "" }'),
    kinds: ['returned'],
    raw: sees,
  })),
  {
    name: 'the wall by a value thrown in a timer',
    body: `setTimeout(() => { throw Object.defineProperty(new Error('x'), 'message', { get() { while (1); } }) }, 1); await new Promise(() => {})`,
    kinds: ['threw', 'timed-out'],
  },
  {
    name: 'the wall by a rejection that nobody handles',
    body: `Promise.reject(new Error(req.args.secret)); await new Promise((to) => setTimeout(to, 10)); return { raw: 'unharmed' }`,
    kinds: ['threw'],
  },
  {
    name: 'the wall by a rejection whose getters loop',
    body: `Promise.reject({ get name() { while (1); }, get message() { while (1); }, get stack() { while (1); } }); await new Promise(() => {})`,
    kinds: ['threw', 'timed-out'],
  },
  { name: 'debugger, which waits for one', body: 'debugger; while (1) debugger', kinds: STOPPED },
];
