import type { HostCall } from './types.ts';

export interface GuestTimers {
  globals: Record<string, unknown>;
  fire: (id: string) => void;
  later: (callback: unknown, delay?: unknown, ...args: unknown[]) => unknown;
  clear: (timer: unknown) => void;
}

/** Timers that the host keeps; their callbacks run as stretches of their own. */
export function createTimers(host: HostCall): GuestTimers {
  const callbacks = new Map<string, { run: () => void; repeat: boolean }>();
  let last = 0;

  class Timeout {
    readonly id: string;
    constructor(id: string) {
      this.id = id;
    }
    ref(): this {
      return this;
    }
    unref(): this {
      return this;
    }
    [Symbol.toPrimitive](): number {
      return Number(this.id);
    }
  }

  function schedule(callback: unknown, delay: unknown, args: unknown[], repeat: boolean): Timeout {
    if (typeof callback !== 'function') throw new TypeError('The callback of a timer must be a function');
    const id = String((last += 1));
    const ms = Math.min(Math.max(Number(delay) || 0, repeat ? 1 : 0), 2 ** 31 - 1);
    if (host('timer', id, String(ms), repeat ? 'repeat' : 'once') !== '') throw new RangeError('Too many timers');
    callbacks.set(id, { run: () => void Reflect.apply(callback, undefined, args), repeat });
    return new Timeout(id);
  }

  function clear(timer: unknown): void {
    const id = timer instanceof Timeout ? timer.id : String(timer);
    if (callbacks.delete(id)) host('clear-timer', id);
  }

  // How util.promisify makes a promise of them.
  const PROMISED = Symbol.for('nodejs.util.promisify.custom');
  const later = (callback: unknown, delay?: unknown, ...args: unknown[]) => schedule(callback, delay, args, false);
  const soon = (callback: unknown, ...args: unknown[]) => schedule(callback, 0, args, false);
  Object.defineProperty(later, PROMISED, {
    value: (delay: unknown, value: unknown) => new Promise((resolve) => later(resolve, delay, value)),
  });
  Object.defineProperty(soon, PROMISED, { value: (value: unknown) => new Promise((resolve) => soon(resolve, value)) });

  return {
    later,
    clear,
    globals: {
      setTimeout: later,
      setInterval: (callback: unknown, delay?: unknown, ...args: unknown[]) => schedule(callback, delay, args, true),
      setImmediate: soon,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
      queueMicrotask: (callback: () => void) => {
        if (typeof callback !== 'function') throw new TypeError('The callback must be a function');
        void Promise.resolve().then(callback);
      },
    },
    fire(id) {
      const timer = callbacks.get(id);
      if (!timer) return;
      if (!timer.repeat) callbacks.delete(id);
      timer.run();
    },
  };
}
