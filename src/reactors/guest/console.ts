import type { GuestInspect } from './inspect.ts';
import type { HostCall } from './types.ts';

/** Node's console, whose lines go to the host: it bounds them and takes the plaintext of the request out. */
export function createConsole(host: HostCall, makeInspect: () => GuestInspect) {
  const timers = new Map<string, number>();
  const counters = new Map<string, number>();
  let indent = '';
  let inspector: GuestInspect | undefined;
  const renderer = (): GuestInspect => (inspector ??= makeInspect());

  function print(level: string, values: unknown[]): void {
    let text: string;
    try {
      text = renderer().format(...values);
    } catch {
      // A getter or a proxy among the values threw: printing does not fail code that works otherwise.
      text = '[a value that cannot be shown]';
    }
    host('log', level, indent + text);
  }
  const printer =
    (level: string) =>
    (...values: unknown[]): void =>
      print(level, values);
  const nameOf = (label: unknown): string => (label === undefined ? 'default' : `${label as string}`);
  const elapsed = (label: string): string => `${label}: ${Date.now() - (timers.get(label) ?? Date.now())}ms`;

  return {
    log: printer('log'),
    info: printer('info'),
    warn: printer('warn'),
    error: printer('error'),
    debug: printer('debug'),
    trace: printer('debug'),
    dir: (value: unknown, options?: object) => print('log', [renderer().inspect(value, options)]),
    table: printer('log'),
    assert: (holds: unknown, ...values: unknown[]) => {
      if (!holds) print('error', ['Assertion failed', ...values]);
    },
    count: (label?: unknown) => {
      const name = nameOf(label);
      counters.set(name, (counters.get(name) ?? 0) + 1);
      print('log', [`${name}: ${counters.get(name)}`]);
    },
    countReset: (label?: unknown) => void counters.delete(nameOf(label)),
    time: (label?: unknown) => void timers.set(nameOf(label), Date.now()),
    timeLog: (label?: unknown, ...values: unknown[]) => print('log', [elapsed(nameOf(label)), ...values]),
    timeEnd: (label?: unknown) => {
      print('log', [elapsed(nameOf(label))]);
      timers.delete(nameOf(label));
    },
    group: (...values: unknown[]) => {
      if (values.length > 0) print('log', values);
      indent += '  ';
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
  };
}
