import type { HeaderDefinition, HeaderDefinitions } from './headers.ts';

/** On every answer, save where no limit holds for the request (draft-ietf-httpapi-ratelimit-headers-11). */
export const RATE_LIMIT_HEADERS: HeaderDefinitions = {
  'RateLimit-Policy': {
    description:
      'The lowest rate that applies to the request: its name, `q` requests in any window of `w` seconds. ' +
      'Absent where no limit applies.',
    required: false,
    schema: { type: 'string' },
    example: '"create-tokens";q=200;w=10',
  },
  RateLimit: {
    description:
      'How that limit stands: `r` requests are left now, and `t` seconds on there are more. ' +
      'Of a refused request, the limit that refused it.',
    required: false,
    schema: { type: 'string' },
    example: '"create-tokens";r=199;t=10',
  },
};

/** On the refusal of a request that may well go through later. */
export const RETRY_AFTER: HeaderDefinition = {
  description: 'Seconds after which the request may be sent again.',
  required: true,
  schema: { type: 'integer', minimum: 1 },
  example: '10',
};
