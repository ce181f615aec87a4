import type { GuestInspect } from './inspect.ts';

/** The parts of Node's util module that do not show the inside of the runtime. */
export function createUtil({ inspect, format }: GuestInspect) {
  type Callback = (error: unknown, value?: unknown) => void;
  type Function_ = (...args: unknown[]) => unknown;

  const CUSTOM = Symbol.for('nodejs.util.promisify.custom');

  function isDeepStrictEqual(a: unknown, b: unknown): boolean {
    if (Object.is(a, b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (a instanceof Date) return a.getTime() === (b as Date).getTime();
    if (a instanceof RegExp) return a.source === (b as RegExp).source && a.flags === (b as RegExp).flags;
    if (a instanceof Error && (a.message !== (b as Error).message || a.name !== (b as Error).name)) return false;
    if (a instanceof Map || a instanceof Set) {
      return isDeepStrictEqual([...a], [...(b as Iterable<unknown>)]);
    }
    const names = Object.keys(a);
    if (names.length !== Object.keys(b).length) return false;
    return names.every((name) => Object.hasOwn(b, name) && isDeepStrictEqual(a[name as never], b[name as never]));
  }

  function promisify(target: Function_): Function_ {
    if (typeof target !== 'function') throw new TypeError('The "original" argument must be of type function.');
    const custom = (target as unknown as Record<symbol, Function_ | undefined>)[CUSTOM];
    if (custom) return custom;
    return function (this: unknown, ...args) {
      return new Promise((resolve, reject) => {
        const done: Callback = (error, value) => {
          // What a callback gives as its error is passed on as it is.
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
          if (error) reject(error);
          else resolve(value);
        };
        Reflect.apply(target, this, [...args, done]);
      });
    };
  }
  promisify.custom = CUSTOM;

  function callbackify(target: Function_): Function_ {
    return function (this: unknown, ...args) {
      const done = args.pop() as Callback;
      // Outside of the promise, whose rejection an error of the callback must not become.
      const later = (error: unknown, value?: unknown): void => void queueMicrotask(() => done(error, value));
      (Reflect.apply(target, this, args) as Promise<unknown>).then(
        (value) => later(null, value),
        (error: unknown) => later(error),
      );
    };
  }

  function inherits(child: Function_ & { super_?: unknown }, parent: Function_): void {
    Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
    Object.setPrototypeOf(child.prototype as object, parent.prototype as object);
  }

  const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);
  const instanceOf = (Class: abstract new (...args: never[]) => unknown) => (value: unknown) => value instanceof Class;
  const ofType = (type: string) => (value: unknown) => typeof value === type;
  const isTypedArray = (value: unknown): boolean => ArrayBuffer.isView(value) && !(value instanceof DataView);

  return {
    inspect: Object.assign(inspect, { custom: Symbol.for('nodejs.util.inspect.custom') }),
    format,
    isDeepStrictEqual,
    inherits,
    deprecate: (target: unknown) => target,
    debuglog: () => () => undefined,
    promisify,
    callbackify,
    types: {
      isAnyArrayBuffer: instanceOf(ArrayBuffer),
      isArrayBuffer: instanceOf(ArrayBuffer),
      isAsyncFunction: (value: unknown) => tagOf(value) === 'AsyncFunction',
      isBoxedPrimitive: (value: unknown) => [String, Number, Boolean].some((Class) => value instanceof Class),
      isDataView: instanceOf(DataView),
      isDate: instanceOf(Date),
      isGeneratorFunction: (value: unknown) => tagOf(value) === 'GeneratorFunction',
      isMap: instanceOf(Map),
      isNativeError: instanceOf(Error),
      isPromise: instanceOf(Promise),
      isRegExp: instanceOf(RegExp),
      isSet: instanceOf(Set),
      isTypedArray,
      isUint8Array: instanceOf(Uint8Array),
      isWeakMap: instanceOf(WeakMap),
      isWeakSet: instanceOf(WeakSet),
    },
    isArray: (value: unknown) => Array.isArray(value),
    isBoolean: ofType('boolean'),
    isFunction: ofType('function'),
    isNumber: ofType('number'),
    isString: ofType('string'),
    isUndefined: ofType('undefined'),
    isDate: instanceOf(Date),
    isError: instanceOf(Error),
    isRegExp: instanceOf(RegExp),
    isNull: (value: unknown) => value === null,
    isNullOrUndefined: (value: unknown) => value === undefined || value === null,
    isObject: (value: unknown) => typeof value === 'object' && value !== null,
    TextEncoder: Reflect.get(globalThis, 'TextEncoder') as unknown,
    TextDecoder: Reflect.get(globalThis, 'TextDecoder') as unknown,
  };
}
