import { isIdempotent } from '../middleware/idempotency-key.ts';
import type { ResponseDefinition, Route, Schema } from '../route.ts';
import { problem } from '../schemas/common.ts';
import { closeObjects } from '../validation/validator.ts';
import { answerHeadersOf, requestHeadersOf } from './headers.ts';
import { RATE_LIMIT_HEADERS, RETRY_AFTER } from './rate-limit-headers.ts';

export interface DocumentOptions {
  readonly version: string;
  readonly headerPrefix: string;
}

const PROBLEM_DESCRIPTIONS: Record<number, string> = {
  400: 'The body, a parameter or an expression is not valid.',
  401: 'The key is missing, malformed, unknown, expired or deleted.',
  403: 'The application does not have the permission, or no access rule matches.',
  404: 'There is no such resource in this tenant.',
  413: 'The body is larger than 1 MB.',
  415: 'The body has another Content-Type.',
  429: 'Too many requests: more than a rate limit allows.',
  431: 'The request line and the headers are larger than 16 KiB together.',
  500: 'A fault of the service.',
  503: 'Postgres or key management cannot be reached, or the audit log cannot be written.',
};

// What the stack in front of every handler can answer; what the handler itself adds, its route declares.
function stackStatuses(route: Route): number[] {
  const statuses = [401, 429, 431, 500, 503];
  if (route.body || route.parameters?.some((parameter) => parameter.in === 'query')) statuses.push(400);
  if (route.permission !== null || route.applicationType !== undefined) statuses.push(403);
  if (route.path.includes('{')) statuses.push(404);
  if (route.body) statuses.push(413, 415);
  if (isIdempotent(route)) statuses.push(400, 403);
  return statuses;
}

function contentOf(status: string, schema: Schema | undefined): object {
  if (Number(status) >= 400) {
    return { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
  }
  return schema === undefined ? {} : { content: { 'application/json': { schema: closeObjects(schema) } } };
}

function limitHeadersOf(status: string): object {
  return status === '429' ? { ...RATE_LIMIT_HEADERS, ...RETRY_AFTER } : RATE_LIMIT_HEADERS;
}

const KEY_CONFLICT = 'A request with the same idempotency key is under way, or the key belongs to another operation.';

// What an operation declares for a status does not unsay what the stack in front of it answers with the same one.
function describeConflict(route: Route): Record<string, ResponseDefinition> {
  if (!isIdempotent(route)) return {};
  const own = route.responses[409]?.description;
  return { 409: { description: own === undefined ? KEY_CONFLICT : `${own} Or: ${KEY_CONFLICT}` } };
}

function describeResponses(route: Route, headerPrefix: string): Record<string, unknown> {
  const answers = {
    ...Object.fromEntries(
      stackStatuses(route).map((status) => [status, { description: PROBLEM_DESCRIPTIONS[status]! }]),
    ),
    ...route.responses,
    ...describeConflict(route),
    ...(route.otherResponses ? { default: route.otherResponses } : {}),
  } as Record<string, ResponseDefinition>;
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, headers }]) => [
      status,
      {
        description,
        headers: { ...answerHeadersOf(route, status, headerPrefix), ...limitHeadersOf(status), ...headers },
        ...contentOf(status, schema),
      },
    ]),
  );
}

function describeOperation(route: Route, headerPrefix: string): Record<string, unknown> {
  const anyKey = `Any valid key${route.applicationType === undefined ? '' : ` of a ${route.applicationType} application`}.`;
  const needs = route.permission === null ? anyKey : `Permission: \`${route.permission}\`.`;
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, needs].filter(Boolean).join('\n\n'),
    ...(route.deprecated ? { deprecated: true } : {}),
    parameters: [...(route.parameters ?? []), ...requestHeadersOf(route, headerPrefix)],
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: {
              [route.body.contentType]: {
                schema: route.body.schema,
                ...(route.body.example === undefined ? {} : { example: route.body.example }),
              },
            },
          },
        }
      : {}),
    responses: describeResponses(route, headerPrefix),
  };
}

/** The OpenAPI 3.1 document of exactly these routes, from the schemas that validate their requests and answers. */
export function createDocument(routes: readonly Route[], options: DocumentOptions): Schema {
  const { headerPrefix } = options;
  // What is not served has no operation to describe.
  const served = routes.filter(({ method }) => method !== 'all');
  const unserved = routes.filter(({ method }) => method === 'all');
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of served) (paths[route.path] ??= {})[route.method] = describeOperation(route, headerPrefix);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tokenkeep',
      version: options.version,
      description: [
        'Stores secrets as tokens and shows them redacted, masked or revealed as access rules say.',
        ...unserved.map(({ path, summary }) => `\`${path}\`: ${summary}`),
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ applicationKey: [] }],
    tags: [...new Set(served.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        applicationKey: { type: 'apiKey', in: 'header', name: `${headerPrefix}-API-KEY` },
      },
      schemas: { Problem: problem },
    },
  };
}
