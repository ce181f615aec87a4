import { invalid } from '../../domain/errors.ts';
import type { Route } from '../route.ts';
import type { ApiContext } from '../state.ts';

/** Name of the header, behind its prefix. */
export const IDEMPOTENCY_KEY = 'IDEMPOTENCY-KEY';
/** Name of the header, behind its prefix, with which an answer says that it was given before. */
export const IDEMPOTENT_REPLAYED = 'IDEMPOTENT-REPLAYED';

export const IDEMPOTENCY_KEY_LENGTH = 255;
// Printable ASCII: what a header carries without loss.
const FORM = new RegExp(`^[ -~]{1,${IDEMPOTENCY_KEY_LENGTH}}$`);

const REPEATED_METHODS: readonly Route['method'][] = ['post', 'put', 'patch'];

/** Whether an idempotency key makes the answers of this operation be kept. */
export function isIdempotent({ method, safe }: Pick<Route, 'method' | 'safe'>): boolean {
  return REPEATED_METHODS.includes(method) && !safe;
}

/** The header under the first prefix under which it was sent, be it empty. */
function readHeader({ headers }: ApiContext, prefixes: readonly string[]) {
  for (const prefix of prefixes) {
    const name = `${prefix}-${IDEMPOTENCY_KEY}`;
    const value = headers[name.toLowerCase()];
    if (value !== undefined) return { name, value: String(value) };
  }
  return undefined;
}

/**
 * The idempotency key of a request, where it has one and its operation heeds it; throws 'invalid', naming the header.
 */
export function readIdempotencyKey(ctx: ApiContext, route: Route, prefixes: readonly string[]): string | undefined {
  const header = isIdempotent(route) ? readHeader(ctx, prefixes) : undefined;
  if (header !== undefined && !FORM.test(header.value)) {
    throw invalid(header.name, `must be 1 to ${IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`);
  }
  return header?.value;
}
