import type { createBuffer } from './buffer.ts';
import type { createCrypto } from './crypto.ts';
import type { createEncoding } from './encoding.ts';
import type { createErrors } from './errors.ts';
import type { createEvents } from './events.ts';
import type { createHarness } from './harness.ts';
import type { createModules } from './modules.ts';
import type { createStructuredClone } from './structured-clone.ts';
import type { createSvc } from './svc.ts';
import type { createTimers } from './timers.ts';
import type { Enter, HostCall } from './types.ts';
import type { createUrl } from './url.ts';
import type { createUtil } from './util.ts';

/** Every part of the guest program, as the functions that make them. */
export interface GuestMakers {
  createBuffer: typeof createBuffer;
  createCrypto: typeof createCrypto;
  createEncoding: typeof createEncoding;
  createErrors: typeof createErrors;
  createEvents: typeof createEvents;
  createHarness: typeof createHarness;
  createModules: typeof createModules;
  createStructuredClone: typeof createStructuredClone;
  createSvc: typeof createSvc;
  createTimers: typeof createTimers;
  createUrl: typeof createUrl;
  createUtil: typeof createUtil;
}

/** Furnishes a fresh context before any code of the reactor runs in it, and gives back the one way in. */
export function installGuest(makers: GuestMakers, errorClasses: readonly string[]): (host: HostCall) => Enter {
  // Memory outside the heap's limit, clocks finer than the isolate's, and ways to watch the garbage collector.
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry']) {
    Reflect.deleteProperty(globalThis, name);
  }

  return (host) => {
    const encoding = makers.createEncoding();
    const Buffer = makers.createBuffer(encoding);
    const errors = makers.createErrors(errorClasses);
    const crypto = makers.createCrypto(host, Buffer);
    const url = makers.createUrl(host);
    const timers = makers.createTimers(host);
    const svc = makers.createSvc(host, errors);
    const modules = makers.createModules({
      Buffer,
      crypto,
      url,
      errors: errors.classes,
      makeEvents: makers.createEvents,
      makeUtil: makers.createUtil,
    });

    // What code prints may hold plaintext, and there is no place for plaintext outside the answer: it goes nowhere.
    const console: Record<string, () => void> = {};
    for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir', 'table', 'time', 'timeEnd', 'group']) {
      console[name] = () => undefined;
    }

    const globals: Record<string, unknown> = {
      ...encoding.globals,
      ...timers.globals,
      ...url,
      ...errors.classes,
      Buffer,
      console,
      crypto: crypto.global,
      structuredClone: makers.createStructuredClone(),
      global: globalThis,
    };
    for (const [name, value] of Object.entries(globals)) {
      Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    }
    return makers.createHarness({ host, errors, ...modules, svc, fireTimer: timers.fire });
  };
}
