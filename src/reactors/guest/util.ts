/** The parts of Node's util module that do not show the inside of the runtime. */
export function createUtil() {
  type Callback = (error: unknown, value?: unknown) => void;
  type Function_ = (...args: unknown[]) => unknown;

  function inspect(value: unknown): string {
    const seen = new Set<unknown>();
    const replace = (_name: string, item: unknown) => {
      if (typeof item === 'bigint') return `${item}n`;
      if (typeof item === 'function') return `[Function: ${item.name}]`;
      if (typeof item !== 'object' || item === null) return item;
      if (seen.has(item)) return '[Circular]';
      seen.add(item);
      return item instanceof Error ? `[${item.name}: ${item.message}]` : item;
    };
    return typeof value === 'string' ? value : (JSON.stringify(value, replace) ?? String(value));
  }

  function format(first: unknown, ...rest: unknown[]): string {
    if (typeof first !== 'string') return [first, ...rest].map(inspect).join(' ');
    const text = first.replace(/%[sdifjoO%]/g, (mark) => {
      if (mark === '%%') return '%';
      if (rest.length === 0) return mark;
      const value = rest.shift();
      if (mark === '%i') return String(Math.trunc(Number(value)));
      if (mark === '%d' || mark === '%f') return String(Number(value));
      return inspect(value);
    });
    return [text, ...rest.map(inspect)].join(' ');
  }

  function isDeepStrictEqual(a: unknown, b: unknown): boolean {
    if (Object.is(a, b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (a instanceof Date) return a.getTime() === (b as Date).getTime();
    if (a instanceof Map || a instanceof Set) {
      return isDeepStrictEqual([...a], [...(b as Iterable<unknown>)]);
    }
    const names = Object.keys(a);
    if (names.length !== Object.keys(b).length) return false;
    return names.every((name) => Object.hasOwn(b, name) && isDeepStrictEqual(a[name as never], b[name as never]));
  }

  return {
    inspect,
    format,
    isDeepStrictEqual,
    inherits: (child: Function_, parent: Function_) => {
      Object.setPrototypeOf(child.prototype as object, parent.prototype as object);
    },
    deprecate: (target: unknown) => target,
    promisify:
      (target: Function_) =>
      (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          const done: Callback = (error, value) => {
            // What a callback gives as its error is passed on as it is.
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
            if (error) reject(error);
            else resolve(value);
          };
          target(...args, done);
        }),
    callbackify:
      (target: (...args: unknown[]) => Promise<unknown>) =>
      (...args: unknown[]) => {
        const done = args.pop() as Callback;
        target(...args).then((value) => done(null, value), done);
      },
    types: {
      isDate: (value: unknown) => value instanceof Date,
      isRegExp: (value: unknown) => value instanceof RegExp,
      isPromise: (value: unknown) => value instanceof Promise,
      isNativeError: (value: unknown) => value instanceof Error,
    },
    TextEncoder: Reflect.get(globalThis, 'TextEncoder') as unknown,
    TextDecoder: Reflect.get(globalThis, 'TextDecoder') as unknown,
  };
}
