/** `structuredClone` for the kinds of values that reactors have: functions and symbols are refused. */
export function createStructuredClone() {
  function refuse(): never {
    throw Object.assign(new Error('The value could not be cloned'), { name: 'DataCloneError', code: 25 });
  }

  function cloneObject(source: object, seen: Map<object, object>): object {
    const known = seen.get(source);
    if (known) return known;
    const keep = <T extends object>(copy: T): T => {
      seen.set(source, copy);
      return copy;
    };
    if (typeof source === 'function') return refuse();
    if (source instanceof Date) return keep(new Date(source.getTime()));
    if (source instanceof RegExp) return keep(new RegExp(source.source, source.flags));
    if (source instanceof ArrayBuffer) return keep(source.slice(0));
    if (ArrayBuffer.isView(source)) {
      const { buffer, byteOffset, byteLength } = source;
      const bytes = buffer.slice(byteOffset, byteOffset + byteLength);
      if (source instanceof DataView) return keep(new DataView(bytes));
      const TypedArray = source.constructor as new (buffer: ArrayBufferLike) => object;
      return keep(new TypedArray(bytes));
    }
    if (source instanceof Map) {
      const copy = keep(new Map<unknown, unknown>());
      for (const [key, value] of source) copy.set(clone(key, seen), clone(value, seen));
      return copy;
    }
    if (source instanceof Set) {
      const copy = keep(new Set<unknown>());
      for (const value of source) copy.add(clone(value, seen));
      return copy;
    }
    if (source instanceof Error) return keep(Object.assign(new Error(source.message), { name: source.name }));
    if (source instanceof Promise || source instanceof WeakMap || source instanceof WeakSet) return refuse();
    if (source instanceof Boolean || source instanceof Number || source instanceof String) {
      return keep(Object(source.valueOf()) as object);
    }
    const copy = keep(Array.isArray(source) ? new Array<unknown>(source.length) : {});
    for (const [name, value] of Object.entries(source)) {
      const cloned = clone(value, seen);
      Object.defineProperty(copy, name, { value: cloned, writable: true, enumerable: true, configurable: true });
    }
    return copy;
  }

  function clone(value: unknown, seen: Map<object, object>): unknown {
    if (typeof value === 'symbol') return refuse();
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    return isObject ? cloneObject(value, seen) : value;
  }

  /** Memory that is handed over is no longer that of who had it. */
  function transferred(list: unknown): ArrayBuffer[] {
    const memories = [...(list as Iterable<unknown>)];
    const isOurs = (one: unknown) => one instanceof ArrayBuffer && !one.detached;
    if (!memories.every(isOurs) || new Set(memories).size < memories.length) return refuse();
    return memories as ArrayBuffer[];
  }

  return (value: unknown, options?: { transfer?: unknown } | null) => {
    const memories = transferred(options?.transfer ?? []);
    const copy = clone(value, new Map());
    for (const memory of memories) memory.transfer();
    return copy;
  };
}
