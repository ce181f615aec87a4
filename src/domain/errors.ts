import { childPath } from './json-guard.ts';

/**
 * Everything that a request can fail with. The API maps each kind to one status; nothing else decides statuses.
 *
 * No message, path or cause may hold token data, a key, a code or an expression's result.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'conflict'
  | 'gone'
  | 'too-large'
  | 'unsupported-media-type'
  | 'unprocessable'
  | 'rate-limited'
  | 'bad-gateway'
  | 'unavailable'
  | 'timeout'
  | 'not-implemented';

/** Property path (`rules[0].transform`) to what is wrong with it. The empty path is the whole body. */
export type Violations = Record<string, string[]>;

/** A failure that a caller may be told about. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly kind: ErrorKind;
  readonly violations: Violations | undefined;

  constructor(kind: ErrorKind, detail: string, options: { violations?: Violations; cause?: unknown } = {}) {
    super(detail, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.violations = options.violations;
  }
}

/** Properties that one error lists at most: a body with more faults has one mistake many times. */
const MAX_FAULTY_PROPERTIES = 100;

/** Collects every fault of an input, so that a caller learns of all of them at once. */
export class ViolationCollector {
  // A map, because paths are the caller's own: one of them may be `__proto__`.
  readonly #violations = new Map<string, string[]>();

  /** Records that `path` breaks a rule; `message` reads after the field's name ("must be …"). */
  add(path: string, message: string): void {
    const messages = this.#violations.get(path);
    if (messages === undefined) {
      if (this.#violations.size < MAX_FAULTY_PROPERTIES) this.#violations.set(path, [message]);
    } else if (!messages.includes(message)) {
      messages.push(message);
    }
  }

  /** What `work` gives; undefined where it throws an 'invalid' error, whose violations are recorded below `path`. */
  collect<Result>(work: () => Result, path = ''): Result | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalid' || error.violations === undefined) throw error;
      for (const [name, messages] of Object.entries(error.violations)) {
        for (const message of messages) this.add(name === '' ? path : childPath(path, name), message);
      }
      return undefined;
    }
  }

  get isEmpty(): boolean {
    return this.#violations.size === 0;
  }

  /** Throws one 'invalid' error that lists all violations; does nothing when there are none. */
  throwIfAny(): void {
    if (!this.isEmpty) {
      const violations = Object.fromEntries(this.#violations);
      throw new DomainError('invalid', 'One or more validation errors occurred.', { violations });
    }
  }
}

/** An 'invalid' error about one property. */
export function invalid(path: string, message: string): DomainError {
  return new DomainError('invalid', 'One or more validation errors occurred.', { violations: { [path]: [message] } });
}
