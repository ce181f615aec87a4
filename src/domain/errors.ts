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

/** Collects every fault of an input, so that a caller learns of all of them at once. */
export class ViolationCollector {
  readonly #violations: Violations = {};

  /** Records that `path` breaks a rule; `message` reads after the field's name ("must be …"). */
  add(path: string, message: string): void {
    const messages = (this.#violations[path] ??= []);
    if (!messages.includes(message)) messages.push(message);
  }

  get isEmpty(): boolean {
    return Object.keys(this.#violations).length === 0;
  }

  /** Throws one 'invalid' error that lists all violations; does nothing when there are none. */
  throwIfAny(): void {
    if (!this.isEmpty) {
      throw new DomainError('invalid', 'One or more validation errors occurred.', { violations: this.#violations });
    }
  }
}

/** An 'invalid' error about one property. */
export function invalid(path: string, message: string): DomainError {
  return new DomainError('invalid', 'One or more validation errors occurred.', { violations: { [path]: [message] } });
}
