/** Node's EventEmitter. */
export function createEvents() {
  type Listener = (...args: unknown[]) => void;

  class EventEmitter {
    readonly #listeners = new Map<unknown, { listener: Listener; original: Listener }[]>();

    #add(event: unknown, listener: Listener, original: Listener, first: boolean): this {
      const list = this.#listeners.get(event) ?? [];
      const entry = { listener, original };
      this.#listeners.set(event, first ? [entry, ...list] : [...list, entry]);
      return this;
    }
    #wrapOnce(event: unknown, original: Listener): Listener {
      return (...args) => {
        this.off(event, original);
        Reflect.apply(original, this, args);
      };
    }
    on(event: unknown, listener: Listener): this {
      return this.#add(event, listener, listener, false);
    }
    addListener(event: unknown, listener: Listener): this {
      return this.on(event, listener);
    }
    prependListener(event: unknown, listener: Listener): this {
      return this.#add(event, listener, listener, true);
    }
    once(event: unknown, listener: Listener): this {
      return this.#add(event, this.#wrapOnce(event, listener), listener, false);
    }
    off(event: unknown, listener: Listener): this {
      const list = this.#listeners.get(event) ?? [];
      const at = list.findLastIndex(({ original }) => original === listener);
      if (at >= 0) this.#listeners.set(event, list.toSpliced(at, 1));
      return this;
    }
    removeListener(event: unknown, listener: Listener): this {
      return this.off(event, listener);
    }
    removeAllListeners(event?: unknown): this {
      if (event === undefined) this.#listeners.clear();
      else this.#listeners.delete(event);
      return this;
    }
    emit(event: unknown, ...args: unknown[]): boolean {
      const list = this.#listeners.get(event) ?? [];
      if (list.length === 0 && event === 'error') throw args[0];
      for (const { listener } of list) Reflect.apply(listener, this, args);
      return list.length > 0;
    }
    listeners(event: unknown): Listener[] {
      return (this.#listeners.get(event) ?? []).map(({ original }) => original);
    }
    listenerCount(event: unknown): number {
      return this.listeners(event).length;
    }
    eventNames(): unknown[] {
      return [...this.#listeners].filter(([, list]) => list.length > 0).map(([event]) => event);
    }
    setMaxListeners(): this {
      return this;
    }
  }

  const once = (emitter: EventEmitter, event: unknown) =>
    new Promise((resolve) => emitter.once(event, (...args) => resolve(args)));
  return Object.assign(EventEmitter, { EventEmitter, once });
}
