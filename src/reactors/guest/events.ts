/** Node's EventEmitter; a function rather than a class, as older code calls it on objects of its own. */
export function createEvents() {
  type Listener = (...args: unknown[]) => void;
  interface Entry {
    listener: Listener;
    original: Listener;
  }
  interface Emitter {
    on(event: unknown, listener: Listener): Emitter;
    off(event: unknown, listener: Listener): Emitter;
    once(event: unknown, listener: Listener): Emitter;
    emit(event: unknown, ...args: unknown[]): boolean;
    listenerCount(event: unknown): number;
  }

  const kept = new WeakMap<object, Map<unknown, Entry[]>>();
  const entriesOf = (emitter: object): Map<unknown, Entry[]> => {
    const known = kept.get(emitter) ?? new Map<unknown, Entry[]>();
    kept.set(emitter, known);
    return known;
  };

  function add(emitter: Emitter, event: unknown, listener: unknown, isFirst: boolean, isOnce: boolean): Emitter {
    if (typeof listener !== 'function') {
      const error = new TypeError('The "listener" argument must be of type function.');
      throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
    }
    const original = listener as Listener;
    const wrapped: Listener = (...args) => {
      emitter.off(event, original);
      Reflect.apply(original, emitter, args);
    };
    const entries = entriesOf(emitter);
    if (event !== 'newListener' && entries.has('newListener')) emitter.emit('newListener', event, original);
    const entry = { listener: isOnce ? wrapped : original, original };
    const list = entries.get(event) ?? [];
    entries.set(event, isFirst ? [entry, ...list] : [...list, entry]);
    return emitter;
  }

  function off(this: Emitter, event: unknown, listener: Listener): Emitter {
    const list = entriesOf(this).get(event) ?? [];
    const at = list.findLastIndex(({ original, listener: own }) => original === listener || own === listener);
    if (at < 0) return this;
    const rest = list.toSpliced(at, 1);
    if (rest.length > 0) entriesOf(this).set(event, rest);
    else entriesOf(this).delete(event);
    if (entriesOf(this).has('removeListener')) this.emit('removeListener', event, listener);
    return this;
  }

  function unhandled(thrown: unknown): unknown {
    if (thrown instanceof Error) return thrown;
    const error = new Error(`Unhandled error. (${typeof thrown === 'string' ? `'${thrown}'` : `${thrown as string}`})`);
    return Object.assign(error, { code: 'ERR_UNHANDLED_ERROR', context: thrown });
  }

  const methods = {
    on(this: Emitter, event: unknown, listener: unknown) {
      return add(this, event, listener, false, false);
    },
    once(this: Emitter, event: unknown, listener: unknown) {
      return add(this, event, listener, false, true);
    },
    addListener(this: Emitter, event: unknown, listener: unknown) {
      return add(this, event, listener, false, false);
    },
    prependListener(this: Emitter, event: unknown, listener: unknown) {
      return add(this, event, listener, true, false);
    },
    prependOnceListener(this: Emitter, event: unknown, listener: unknown) {
      return add(this, event, listener, true, true);
    },
    off,
    removeListener: off,
    removeAllListeners(this: Emitter, event?: unknown) {
      if (event === undefined) entriesOf(this).clear();
      else entriesOf(this).delete(event);
      return this;
    },
    emit(this: Emitter, event: unknown, ...args: unknown[]): boolean {
      const list = entriesOf(this).get(event) ?? [];
      if (list.length === 0 && event === 'error') throw unhandled(args[0]);
      for (const { listener } of list) Reflect.apply(listener, this, args);
      return list.length > 0;
    },
    listeners(this: Emitter, event: unknown): Listener[] {
      return (entriesOf(this).get(event) ?? []).map(({ original }) => original);
    },
    rawListeners(this: Emitter, event: unknown): Listener[] {
      return (entriesOf(this).get(event) ?? []).map(({ listener }) => listener);
    },
    listenerCount(this: Emitter, event: unknown): number {
      return entriesOf(this).get(event)?.length ?? 0;
    },
    eventNames(this: Emitter): unknown[] {
      return [...entriesOf(this).keys()];
    },
    setMaxListeners(this: Emitter) {
      return this;
    },
    getMaxListeners: () => 10,
  };

  function EventEmitter(this: unknown): void {}
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(EventEmitter.prototype, name, { value, writable: true, configurable: true });
  }

  const once = (emitter: Emitter, event: unknown) =>
    new Promise((resolve, reject) => {
      const onError = (error: unknown): void => {
        emitter.off(event, onEvent);
        // What an emitter gives as its error is passed on as it is.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(error);
      };
      const onEvent = (...args: unknown[]): void => {
        if (event !== 'error') emitter.off('error', onError);
        resolve(args);
      };
      emitter.once(event, onEvent);
      if (event !== 'error') emitter.once('error', onError);
    });

  /** The events of an emitter one after another; it goes on until the loop over them is left. */
  async function* on(emitter: Emitter, event: unknown): AsyncGenerator<unknown[]> {
    const waiting: unknown[][] = [];
    let wake: () => void = () => undefined;
    let failed: { error: unknown } | undefined;
    const onEvent = (...args: unknown[]): void => {
      waiting.push(args);
      wake();
    };
    const onError = (error: unknown): void => {
      failed = { error };
      wake();
    };
    emitter.on(event, onEvent);
    if (event !== 'error') emitter.on('error', onError);
    try {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift()!;
        if (failed) throw failed.error;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      emitter.off(event, onEvent);
      emitter.off('error', onError);
    }
  }

  return Object.assign(EventEmitter, { EventEmitter, once, on, defaultMaxListeners: 10 });
}
