import { deprecationHeaderDefinitions } from '../deprecation.ts';
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_KEY_LENGTH,
  IDEMPOTENT_REPLAYED,
  isIdempotent,
} from '../middleware/idempotency-key.ts';
import type { Route, Schema } from '../route.ts';
import { RATE_LIMIT_HEADERS, RETRY_AFTER } from './rate-limit-headers.ts';

/** A header of requests, as the document lists it among the parameters of an operation. */
interface HeaderParameter {
  readonly name: string;
  readonly in: 'header';
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
}

export interface HeaderDefinition {
  readonly description: string;
  readonly schema: Schema;
  /** Whether every answer of this operation and status has it. */
  readonly required: boolean;
  readonly example?: string;
}

export type HeaderDefinitions = Readonly<Record<string, HeaderDefinition>>;

const TRACE_EXAMPLE = '1f0e7c6a-2b8d-4c3e-9f5a-6b7c8d9e0f1a';

export function traceHeader(prefix: string): HeaderParameter {
  return {
    name: `${prefix}-TRACE-ID`,
    in: 'header',
    description: 'Names the request in the answer and in log lines. Anything but 1 to 64 of `A-Za-z0-9_-` is replaced.',
    schema: { type: 'string' },
    example: TRACE_EXAMPLE,
  };
}

/** The headers, besides its key, that an operation heeds. */
export function requestHeadersOf(route: Route, prefix: string): HeaderParameter[] {
  const idempotency: HeaderParameter = {
    name: `${prefix}-${IDEMPOTENCY_KEY}`,
    in: 'header',
    description:
      'For 24 hours, the first success under this key is answered again, whatever the body, and not repeated. ' +
      'A key belongs to one application or session and to one method and path.',
    schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH, pattern: '^[ -~]+$' },
    example: 'order-4711',
  };
  return isIdempotent(route) ? [traceHeader(prefix), idempotency] : [traceHeader(prefix)];
}

const AUTHENTICATE: HeaderDefinitions = {
  'WWW-Authenticate': {
    description: 'That a key is asked for.',
    required: true,
    schema: { type: 'string' },
    example: 'ApiKey',
  },
};

export const retryAfterHeaders: HeaderDefinitions = { 'Retry-After': RETRY_AFTER };

/** On answers that no cache is to keep. */
export const unstoredHeaders: HeaderDefinitions = {
  'Cache-Control': {
    description: 'That nothing of the answer is to be kept by caches (RFC 9111).',
    required: true,
    schema: { type: 'string' },
    example: 'no-store',
  },
};

/** The header of every answer that a request gets once HTTP has let it in. */
export function traceAnswerHeader(prefix: string): HeaderDefinitions {
  return {
    [`${prefix}-TRACE-ID`]: {
      description: 'The trace id of the request, sent or made; log lines carry it.',
      required: true,
      schema: { type: 'string' },
      example: TRACE_EXAMPLE,
    },
  };
}

/** That, and what tells of rate limits. */
export function generalHeaders(prefix: string): HeaderDefinitions {
  return { ...traceAnswerHeader(prefix), ...RATE_LIMIT_HEADERS };
}

/** On the answers of a deprecated operation, whichever it is; an address is refused before the operation is known. */
function deprecationHeadersOf(status: string): HeaderDefinitions {
  if (status !== '429') return deprecationHeaderDefinitions;
  return Object.fromEntries(
    Object.entries(deprecationHeaderDefinitions).map(([name, { description, ...definition }]) => {
      const absence = 'Absent where all requests of the address are refused.';
      return [name, { ...definition, description: `${description} ${absence}`, required: false }];
    }),
  );
}

/** The headers that an answer has because of how its operation is declared, whatever its handler does. */
export function answerHeadersOf(route: Route, status: string, prefix: string): HeaderDefinitions {
  // HTTP refuses these itself, before there is an operation or a trace id.
  if (status === '431') return {};
  const replayed: HeaderDefinitions = {
    [`${prefix}-${IDEMPOTENT_REPLAYED}`]: {
      description: '`true` on an answer that was given before, under the idempotency key of the request.',
      required: false,
      schema: { type: 'string', enum: ['true'] },
      example: 'true',
    },
  };
  const comesLater = status === '503' || status === '429';
  // What a reactor's code answers with the same status need not have it.
  const retryAfter =
    route.otherResponses === undefined ? retryAfterHeaders : { 'Retry-After': { ...RETRY_AFTER, required: false } };
  return {
    ...generalHeaders(prefix),
    ...unstoredHeaders,
    ...(isIdempotent(route) && (status.startsWith('2') || status === 'default') ? replayed : {}),
    ...(route.deprecated ? deprecationHeadersOf(status) : {}),
    ...(status === '401' ? AUTHENTICATE : {}),
    ...(comesLater ? retryAfter : {}),
  };
}
