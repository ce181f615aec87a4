import type { Json } from '../../domain/json.ts';
import { ExpressionFault } from '../fault.ts';
import { type Budget, MAX_FILTERED_TEXT } from '../limits.ts';

/** The bytes of a digest: text (lower-case hex) to every filter but those that encode bytes. */
export class Digest {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  toString(): string {
    return this.bytes.toString('hex');
  }
}

/**
 * One positional argument of a filter. `read` checks a given value and throws ExpressionFault where it does not fit.
 */
export interface Parameter<T> {
  name: string;
  /** Taken where the argument is left out; without one, the argument is required. */
  fallback?: T;
  read(value: Json): T;
}

/** A filter of ours: its parameters are checked before it runs, for literal arguments as early as at parsing. */
export interface Filter {
  parameters: readonly Parameter<unknown>[];
  /** True where a Digest is taken as its bytes. */
  takesBytes: boolean;
  /** Never called for null: what is missing stays null through every filter of ours. */
  apply(value: Exclude<Json, null> | Digest, args: readonly unknown[], budget: Budget): Json | Digest;
}

type Parameters<A extends unknown[]> = { [I in keyof A]: Parameter<A[I]> };

/** A filter over JSON values, its arguments typed by its parameters. */
export function defineFilter<A extends unknown[]>(
  parameters: [...Parameters<A>],
  apply: (value: Exclude<Json, null>, args: A, budget: Budget) => Json | Digest,
): Filter {
  return {
    parameters,
    takesBytes: false,
    apply: (value, args, budget) => apply(value as Exclude<Json, null>, args as A, budget),
  };
}

/** A filter over text: numbers are taken as their digits, anything else is refused. */
export function defineTextFilter<A extends unknown[]>(
  parameters: [...Parameters<A>],
  apply: (text: string, args: A) => Json | Digest,
): Filter {
  return defineFilter<A>(parameters, (value, args) => {
    const text = textOf(value);
    if (text.length > MAX_FILTERED_TEXT)
      throw new ExpressionFault(`takes text of up to ${MAX_FILTERED_TEXT} characters`);
    return apply(text, args);
  });
}

/** A text filter that takes a digest as its bytes, and any other text as its UTF-8 bytes. */
export function defineByteFilter(apply: (bytes: Buffer) => Json): Filter {
  return {
    parameters: [],
    takesBytes: true,
    apply: (value) => apply(value instanceof Digest ? value.bytes : Buffer.from(textOf(value), 'utf8')),
  };
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new ExpressionFault('takes text or a number');
}
