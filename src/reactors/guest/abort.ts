/** Events and the signals that end what takes too long, as the web platform has them. */
export function createAbort(timers: {
  set: (callback: () => void, ms: number) => unknown;
  clear: (timer: unknown) => void;
}) {
  type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };

  const CODES: Record<string, number> = { AbortError: 20, DataCloneError: 25, TimeoutError: 23, InvalidStateError: 11 };

  class DOMException extends Error {
    readonly code: number;
    constructor(message = '', name = 'Error') {
      super(String(message));
      Object.defineProperty(this, 'name', { value: String(name), configurable: true });
      this.code = CODES[name] ?? 0;
    }
  }

  class Event {
    readonly type: string;
    readonly cancelable: boolean;
    defaultPrevented = false;
    target: EventTarget | null = null;
    constructor(type: unknown, options: { cancelable?: boolean } = {}) {
      this.type = `${type as string}`;
      this.cancelable = Boolean(options.cancelable);
    }
    get currentTarget(): EventTarget | null {
      return this.target;
    }
    preventDefault(): void {
      this.defaultPrevented = this.cancelable;
    }
  }

  class EventTarget {
    readonly #listeners = new Map<string, { listener: Listener; once: boolean }[]>();
    addEventListener(type: string, listener: Listener | null, options: { once?: boolean } | boolean = {}): void {
      const list = this.#listeners.get(type) ?? [];
      if (!listener || list.some((entry) => entry.listener === listener)) return;
      const once = typeof options === 'object' && Boolean(options.once);
      this.#listeners.set(type, [...list, { listener, once }]);
    }
    removeEventListener(type: string, listener: Listener | null): void {
      const list = this.#listeners.get(type) ?? [];
      this.#listeners.set(
        type,
        list.filter((entry) => entry.listener !== listener),
      );
    }
    dispatchEvent(event: Event): boolean {
      event.target = this;
      for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
        if (once) this.removeEventListener(event.type, listener);
        if (typeof listener === 'function') Reflect.apply(listener, this, [event]);
        else listener.handleEvent(event);
      }
      return !event.defaultPrevented;
    }
  }

  let abort: (signal: AbortSignal, reason: unknown) => void;

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason: unknown;
    onabort: ((event: Event) => void) | null = null;

    static {
      abort = (signal, reason = new DOMException('This operation was aborted', 'AbortError')) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason;
        const event = new Event('abort');
        signal.onabort?.(event);
        signal.dispatchEvent(event);
      };
    }
    static abort(reason?: unknown): AbortSignal {
      const signal = new AbortSignal();
      abort(signal, reason);
      return signal;
    }
    static timeout(ms: number): AbortSignal {
      const signal = new AbortSignal();
      const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');
      timers.set(() => abort(signal, reason()), ms);
      return signal;
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      const any = new AbortSignal();
      for (const signal of signals) {
        if (signal.aborted) abort(any, signal.reason);
        else signal.addEventListener('abort', () => abort(any, signal.reason), { once: true });
      }
      return any;
    }
    get aborted(): boolean {
      return this.#aborted;
    }
    get reason(): unknown {
      return this.#reason;
    }
    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason;
    }
  }

  class AbortController {
    readonly signal = new AbortSignal();
    abort(reason?: unknown): void {
      abort(this.signal, reason);
    }
  }

  /** A signal of ours for what may take `ms`, for ever with 0; its timer is given back by `clear`. */
  function deadline(ms: number): { signal: AbortSignal; clear(): void } {
    const { signal } = new AbortController();
    const timer = ms > 0 ? timers.set(() => abort(signal, undefined), ms) : undefined;
    return { signal, clear: () => timer !== undefined && timers.clear(timer) };
  }

  return { globals: { AbortController, AbortSignal, DOMException, Event, EventTarget }, deadline };
}

export type GuestAbort = ReturnType<typeof createAbort>;
export type GuestSignal = InstanceType<GuestAbort['globals']['AbortSignal']>;
