/** What a thrown value says about itself, as far as it can be trusted to be one of ours. */
export type ErrorReading =
  | { kind: 'class'; class: string; errors: Record<string, string[]> }
  | { kind: 'custom'; response: { status?: unknown; headers?: unknown; body?: unknown } };

export interface GuestErrors {
  classes: Record<string, new (argument?: unknown) => Error>;
  /** Undefined for a value that is not an instance of the classes, however much it looks like one. */
  read(thrown: unknown): ErrorReading | undefined;
}

/**
 * The error classes of `@tokenkeep/errors`.
 *
 * Like every function of this folder, it runs inside the isolate from its source text: it may use its arguments and
 * the language, and nothing of its module but types.
 */
export function createErrors(classNames: readonly string[]): GuestErrors {
  const { stringify } = JSON;
  const NO_JSON_FORM = '[no JSON form]';
  let read: GuestErrors['read'] = () => undefined;

  /** Does not throw, which would hide the error that the code is making; nor shows a function, which is code. */
  function text(value: unknown): string {
    if (value instanceof Error) return value.message;
    if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return String(value);
    try {
      return stringify(value) ?? NO_JSON_FORM;
    } catch {
      return NO_JSON_FORM;
    }
  }

  function texts(value: unknown): string[] {
    return Array.isArray(value) ? value.map(text) : [text(value)];
  }

  function errorsOf(argument: unknown): Record<string, string[]> {
    if (argument === undefined || argument === null) return {};
    if (typeof argument !== 'object' || Array.isArray(argument) || argument instanceof Error)
      return { error: texts(argument) };
    const errors: Record<string, string[]> = {};
    for (const [name, value] of Object.entries(argument)) {
      Object.defineProperty(errors, name, { value: texts(value), enumerable: true });
    }
    return errors;
  }

  // Private fields cannot be forged: an object that only has the prototype of an error class is not one.
  class ReactorError extends Error {
    readonly #reading: ErrorReading;

    constructor(message: string, reading: ErrorReading) {
      super(message);
      this.#reading = reading;
    }

    static {
      read = (thrown) =>
        typeof thrown === 'object' && thrown !== null && #reading in thrown ? thrown.#reading : undefined;
    }
  }

  const classes: GuestErrors['classes'] = {};
  function define(name: string, ErrorClass: new (argument?: never) => Error): void {
    Object.defineProperty(ErrorClass, 'name', { value: name });
    Object.defineProperty(ErrorClass.prototype, 'name', { value: name, writable: true, configurable: true });
    classes[name] = ErrorClass as GuestErrors['classes'][string];
  }

  for (const name of classNames) {
    define(
      name,
      class extends ReactorError {
        readonly errors: Record<string, string[]>;

        constructor(argument?: unknown) {
          const errors = errorsOf(argument);
          super(typeof argument === 'string' ? argument : name, { kind: 'class', class: name, errors });
          this.errors = errors;
        }
      },
    );
  }
  define(
    'CustomHttpResponseError',
    class extends ReactorError {
      constructor(response: { status?: unknown; headers?: unknown; body?: unknown } = {}) {
        const { status, headers, body } = response;
        super('CustomHttpResponseError', { kind: 'custom', response: { status, headers, body } });
      }
    },
  );
  return { classes, read };
}
