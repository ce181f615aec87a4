import { deprecationHeaderDefinitions } from '../deprecation.ts';
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_KEY_LENGTH,
  IDEMPOTENT_REPLAYED,
  isIdempotent,
} from '../middleware/idempotency-key.ts';
import type { Route, Schema } from '../route.ts';

/** A header of requests, as the document lists it among the parameters of an operation. */
interface HeaderParameter {
  readonly name: string;
  readonly in: 'header';
  readonly description: string;
  readonly schema: Schema;
}

type HeaderDefinitions = Record<string, { description: string; schema: Schema; required?: boolean }>;

/** The headers, besides its key, that an operation heeds. */
export function requestHeadersOf(route: Route, prefix: string): HeaderParameter[] {
  const trace: HeaderParameter = {
    name: `${prefix}-TRACE-ID`,
    in: 'header',
    description: 'Names the request in the answer and in log lines. Anything but 1 to 64 of `A-Za-z0-9_-` is replaced.',
    schema: { type: 'string' },
  };
  const idempotency: HeaderParameter = {
    name: `${prefix}-${IDEMPOTENCY_KEY}`,
    in: 'header',
    description:
      'For 24 hours, the first success under this key is answered again, whatever the body, and not repeated. ' +
      'A key belongs to one application or session and to one method and path.',
    schema: { type: 'string', maxLength: IDEMPOTENCY_KEY_LENGTH, pattern: '^[ -~]*$' },
  };
  return isIdempotent(route) ? [trace, idempotency] : [trace];
}

/** The headers that an answer has because of how its operation is declared, whatever its handler does. */
export function answerHeadersOf(route: Route, status: string, prefix: string): HeaderDefinitions {
  const replayed: HeaderDefinitions = {
    [`${prefix}-${IDEMPOTENT_REPLAYED}`]: {
      description: '`true` on an answer that was given before, under the idempotency key of the request.',
      schema: { type: 'string', enum: ['true'] },
      required: false,
    },
  };
  return {
    [`${prefix}-TRACE-ID`]: {
      description: 'The trace id of the request, sent or made; log lines carry it.',
      schema: { type: 'string' },
    },
    ...(isIdempotent(route) && status.startsWith('2') ? replayed : {}),
    ...(route.deprecated ? deprecationHeaderDefinitions : {}),
  };
}
