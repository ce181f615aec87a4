import type { createAbort } from './abort.ts';
import type { createAxios } from './axios.ts';
import type { createBuffer } from './buffer.ts';
import type { createCalls } from './calls.ts';
import type { createConsole } from './console.ts';
import type { createCrypto } from './crypto.ts';
import type { createCryptoKeys } from './crypto-keys.ts';
import type { createCryptoTerms } from './crypto-terms.ts';
import type { createEncoding } from './encoding.ts';
import type { createErrors } from './errors.ts';
import type { createEvents } from './events.ts';
import type { createFetch } from './fetch.ts';
import type { createHarness } from './harness.ts';
import type { createHeaders } from './headers.ts';
import type { createInspect } from './inspect.ts';
import type { createJsonPath, JsonPathLibrary } from './json-path.ts';
import type { createLegacyUrl } from './legacy-url.ts';
import type { createModules } from './modules.ts';
import type { createNodeFetch } from './node-fetch.ts';
import type { createQuerystring } from './querystring.ts';
import type { createStructuredClone } from './structured-clone.ts';
import type { createSubtle } from './subtle.ts';
import type { createSvc } from './svc.ts';
import type { createTimers } from './timers.ts';
import type { Enter, HostCall } from './types.ts';
import type { createUrl } from './url.ts';
import type { createUtil } from './util.ts';
import type { createUuid } from './uuid.ts';

/** Every part of the guest program, as the functions that make them. */
export interface GuestMakers {
  createAbort: typeof createAbort;
  createAxios: typeof createAxios;
  createBuffer: typeof createBuffer;
  createCalls: typeof createCalls;
  createConsole: typeof createConsole;
  createCrypto: typeof createCrypto;
  createCryptoKeys: typeof createCryptoKeys;
  createCryptoTerms: typeof createCryptoTerms;
  createEncoding: typeof createEncoding;
  createErrors: typeof createErrors;
  createEvents: typeof createEvents;
  createFetch: typeof createFetch;
  createHarness: typeof createHarness;
  createHeaders: typeof createHeaders;
  createInspect: typeof createInspect;
  createJsonPath: typeof createJsonPath;
  createLegacyUrl: typeof createLegacyUrl;
  createModules: typeof createModules;
  createNodeFetch: typeof createNodeFetch;
  createQuerystring: typeof createQuerystring;
  createStructuredClone: typeof createStructuredClone;
  createSubtle: typeof createSubtle;
  createSvc: typeof createSvc;
  createTimers: typeof createTimers;
  createUrl: typeof createUrl;
  createUtil: typeof createUtil;
  createUuid: typeof createUuid;
  /** The package json-p3. */
  loadJsonPath: () => JsonPathLibrary;
}

/**
 * Furnishes a fresh context before any code of the reactor runs in it, and gives back the one way in. Each invocation
 * pays for this, so all but a few parts are made when the code first touches them.
 */
export function installGuest(makers: GuestMakers, errorClasses: readonly string[]): (host: HostCall) => Enter {
  // Memory outside the heap's limit, clocks finer than the isolate's, and ways to watch the garbage collector.
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry']) {
    Reflect.deleteProperty(globalThis, name);
  }

  function once<T>(make: () => T): () => T {
    let made: { value: T } | undefined;
    return () => (made ??= { value: make() }).value;
  }
  function define(target: object, values: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(values)) {
      Object.defineProperty(target, name, { value, writable: true, configurable: true });
    }
  }
  /** Members that come to be at the first look, and are ordinary ones from then on. */
  function defineLater(target: object, names: readonly string[], make: () => object): void {
    for (const name of names) {
      const become = (value: unknown): unknown => {
        define(target, { [name]: value });
        return value;
      };
      const get = (): unknown => become((make() as Record<string, unknown>)[name]);
      Object.defineProperty(target, name, { get, set: become, configurable: true });
    }
  }

  return (host) => {
    const errors = makers.createErrors(errorClasses);
    const timers = makers.createTimers(host);
    const calls = makers.createCalls(host);
    const encoding = once(() => makers.createEncoding());
    const buffer = once(() => makers.createBuffer(encoding()));
    const url = once(() => makers.createUrl(host));
    const inspect = once(() => makers.createInspect());
    const querystring = once(() => makers.createQuerystring());
    const crypto = once(() => makers.createCrypto(host, buffer()));
    const abort = once(() => makers.createAbort({ set: timers.later, clear: timers.clear }));
    const subtle = once(() => {
      const terms = makers.createCryptoTerms(buffer(), abort());
      const keys = makers.createCryptoKeys(crypto(), buffer(), terms);
      return makers.createSubtle({ crypto: crypto(), Buffer: buffer(), terms, keys });
    });
    const fetch = once(() =>
      makers.createFetch({
        host,
        calls,
        Buffer: buffer(),
        Headers: makers.createHeaders(),
        abort: abort(),
        url: url(),
      }),
    );

    const webCrypto = {};
    defineLater(webCrypto, ['randomUUID', 'getRandomValues'], () => crypto().random);
    defineLater(webCrypto, ['subtle', 'CryptoKey'], subtle);

    const modules = makers.createModules({
      '@tokenkeep/errors': () => errors.classes,
      axios: () => makers.createAxios({ fetch: fetch(), abort: abort(), Buffer: buffer(), url: url() }),
      buffer: () => ({ Buffer: buffer(), atob: encoding().globals.atob, btoa: encoding().globals.btoa }),
      crypto: () => ({ ...crypto().module, webcrypto: webCrypto }),
      events: () => makers.createEvents(),
      jsonpath: () => makers.createJsonPath(makers.loadJsonPath()),
      'node-fetch': () => makers.createNodeFetch({ fetch: fetch(), abort: abort(), Buffer: buffer() }),
      querystring,
      url: () => makers.createLegacyUrl(url(), querystring()),
      util: () => makers.createUtil(inspect()),
      uuid: () => makers.createUuid(buffer(), crypto()),
    });

    const began = Date.now();
    define(globalThis, {
      ...timers.globals,
      ...errors.classes,
      crypto: webCrypto,
      performance: { now: () => Date.now() - began, timeOrigin: began },
      global: globalThis,
    });
    defineLater(globalThis, ['TextEncoder', 'TextDecoder', 'atob', 'btoa'], () => encoding().globals);
    defineLater(globalThis, ['Buffer'], () => ({ Buffer: buffer() }));
    defineLater(globalThis, ['URL', 'URLSearchParams'], url);
    defineLater(globalThis, ['console'], () => ({ console: makers.createConsole(host, inspect) }));
    defineLater(globalThis, ['structuredClone'], () => ({ structuredClone: makers.createStructuredClone() }));
    defineLater(globalThis, ['fetch', 'Headers', 'Request', 'Response'], () => fetch().globals);
    const events = ['AbortController', 'AbortSignal', 'DOMException', 'Event', 'EventTarget'];
    defineLater(globalThis, events, () => abort().globals);
    defineLater(globalThis, ['CryptoKey'], subtle);

    const svc = makers.createSvc(calls, errors);
    return makers.createHarness({ host, errors, ...modules, svc, answer: calls.answer, fireTimer: timers.fire });
  };
}
