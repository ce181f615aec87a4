import type { GuestErrors } from './errors.ts';
import type { Enter, HostCall, ModuleWrapper } from './types.ts';

export interface HarnessParts {
  host: HostCall;
  errors: GuestErrors;
  require: (name: string) => unknown;
  /** The module whose absence this error reports, if it is such an error. */
  missingModule: (error: unknown) => string | undefined;
  svc: unknown;
  answer: (call: string, payload: string) => void;
  fireTimer: (id: string) => void;
}

/**
 * Runs the code and reports how it ended. It takes what it needs of the language before the code can change it, so
 * that code which overwrites built-ins harms its own result only; the host believes none of it either way.
 */
export function createHarness({ host, errors, require, missingModule, svc, answer, fireTimer }: HarnessParts): Enter {
  const { parse, stringify } = JSON;
  const { defineProperty, getPrototypeOf } = Object;
  const { isArray } = Array;
  const { apply } = Reflect;
  // Only ever called through `apply`, with its `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const exec = RegExp.prototype.exec;
  const BUILT_IN = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError, Error].map(
    ({ name, prototype }) => ({ name, prototype: prototype }),
  );

  /** JSON text of our own objects, which a `toJSON` put on Object.prototype must not replace. */
  function plain<T extends object>(value: T): T {
    defineProperty(value, 'toJSON', { value: undefined });
    return value;
  }

  /** Name of the nearest built-in class and line of the code: both tell nothing of the data. */
  function locate(thrown: unknown): { name: string; line: string } {
    let name = 'a value';
    let line = '';
    try {
      if (typeof thrown !== 'object' || thrown === null) return { name, line };
      for (let proto = getPrototypeOf(thrown) as object | null; proto !== null;) {
        const known = BUILT_IN.find(({ prototype }) => prototype === proto);
        if (known) {
          name = known.name;
          break;
        }
        proto = getPrototypeOf(proto) as object | null;
      }
      const match = apply(exec, /reactor\.js:(\d{1,7})/, [(thrown as Error).stack]) as RegExpExecArray | null;
      line = match?.[1] ?? '';
    } catch {
      // A getter or a proxy of the thrown value threw in turn: there is nothing more to learn from it.
    }
    return { name, line };
  }

  function reportThrown(thrown: unknown): void {
    try {
      const reading = errors.read(thrown);
      if (reading?.kind === 'class') {
        for (const name in reading.errors) plain(reading.errors[name]!);
        host('classed', stringify(plain({ class: reading.class, errors: plain(reading.errors) })));
        return;
      }
      if (reading?.kind === 'custom') {
        host('custom', stringify(plain(reading.response)));
        return;
      }
    } catch {
      host('invalid');
      return;
    }
    const { name, line } = locate(thrown);
    const module = missingModule(thrown);
    if (module === undefined) host('threw', name, line);
    else host('threw', name, line, module);
  }

  function member(result: object, name: 'raw' | 'tokenize'): string {
    const value = (result as Record<string, unknown>)[name];
    if (value === undefined) return '';
    const text = stringify(value) as string | undefined;
    if (text === undefined) throw new TypeError(`${name} has no JSON form`);
    return text;
  }

  function reportReturned(result: unknown): void {
    let raw = '';
    let tokenize = '';
    try {
      if (result === undefined || result === null) {
        host('returned', raw, tokenize);
        return;
      }
      if (typeof result !== 'object' || isArray(result)) throw new TypeError('not an object');
      raw = member(result, 'raw');
      tokenize = member(result, 'tokenize');
    } catch {
      host('invalid');
      return;
    }
    host('returned', raw, tokenize);
  }

  function evaluate(code: ModuleWrapper): unknown {
    const module: { exports: unknown } = { exports: {} };
    apply(code, module.exports, [module, module.exports, require]);
    return module.exports;
  }

  function load(code: ModuleWrapper): void {
    try {
      if (typeof evaluate(code) === 'function') host('loaded');
      else host('refused', 'not-a-function', '');
    } catch (thrown) {
      const { line } = locate(thrown);
      const module = missingModule(thrown);
      if (module === undefined) host('refused', 'top-level-error', line);
      else host('refused', 'top-level-error', line, module);
    }
  }

  async function start(code: ModuleWrapper, request: string, withSvc: boolean): Promise<void> {
    let result: unknown;
    try {
      const handler = evaluate(code) as (request: unknown) => unknown;
      const { args, configuration } = parse(request) as { args: unknown; configuration: unknown };
      result = await apply(handler, undefined, [{ args, configuration, svc: withSvc ? svc : null }]);
    } catch (thrown) {
      reportThrown(thrown);
      return;
    }
    reportReturned(result);
  }

  return (event, id, payload, code) => {
    if (event === 'load') load(code!);
    else if (event === 'start') void start(code!, payload, id === 'svc');
    else if (event === 'timer') fireTimer(id);
    else answer(id, payload);
  };
}
