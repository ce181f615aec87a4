import { BODY_LIMIT_BYTES } from '../middleware/json-body.ts';
import { isIdempotent } from '../middleware/idempotency-key.ts';
import { type Problem, PROBLEM_TYPE, problemTitle } from '../problem.ts';
import type { ResponseDefinition, Route, Schema } from '../route.ts';
import { closeObjects } from '../validation/validator.ts';
import type { Components } from './components.ts';
import { answerHeadersOf, type HeaderDefinitions } from './headers.ts';

const DESCRIPTIONS = {
  400: 'The body, a parameter, a header or an expression is not valid; `errors` names each place.',
  401: 'The key is missing, malformed, unknown, expired or deleted.',
  403: 'The application does not have the permission, or no access rule matches.',
  404: 'There is no such resource in this tenant.',
  409: 'A request with the same idempotency key is under way, or the key belongs to another operation.',
  413: 'The body is too large.',
  415: 'The body has another Content-Type.',
  429: 'Too many requests: more than a rate limit, or one invocation of a reactor, allows.',
  431: 'The request line and the headers are larger than 16 KiB together.',
  500: 'A fault of the service.',
  503: 'Postgres or key management cannot be reached, or the audit log cannot be written.',
} as const;

type StackStatus = keyof typeof DESCRIPTIONS;

/** What the stack in front of every handler can answer; what the handler itself adds, its route declares. */
function stackStatuses(route: Route): StackStatus[] {
  const statuses: StackStatus[] = [401, 429, 431, 500, 503];
  if (route.body || route.parameters?.some((parameter) => parameter.in === 'query')) statuses.push(400);
  if (route.permission !== null || route.applicationType !== undefined) statuses.push(403);
  if (route.path.includes('{') && route.method !== 'all') statuses.push(404);
  if (route.body) statuses.push(413, 415);
  if (isIdempotent(route)) statuses.push(400, 403, 409);
  return statuses;
}

function exampleProblem(status: number, detail: string): Problem {
  return {
    type: 'about:blank',
    title: problemTitle(status),
    status,
    detail: status === 400 ? problemTitle(400) : detail.split(' Or: ')[0]!,
    instance: '1f0e7c6a-2b8d-4c3e-9f5a-6b7c8d9e0f1a',
    ...(status === 400 ? { errors: { 'a.member[0]': ['must be …'] } } : {}),
  };
}

/** The content of an answer with an error status. */
export function problemContent(status: number, detail: string): object {
  const schema = { $ref: '#/components/schemas/Problem' };
  return { content: { [PROBLEM_TYPE]: { schema, example: exampleProblem(status, detail) } } };
}

/** The content of an answer with this schema, and the first of the schema's own examples. */
export function jsonContent(schema: Schema, components: Components): object {
  const [example] = (schema['examples'] ?? []) as unknown[];
  const described = components.refer(closeObjects(schema));
  return { content: { 'application/json': { schema: described, ...(example === undefined ? {} : { example }) } } };
}

function describe(status: StackStatus, { body }: Route): string {
  if (status !== 413) return DESCRIPTIONS[status];
  return `The body is larger than ${(body?.limitBytes ?? BODY_LIMIT_BYTES) / 2 ** 20} MB.`;
}

// What an operation declares for a status does not unsay what the stack in front of it answers with the same one.
function answersOf(route: Route): [status: string, definition: ResponseDefinition][] {
  const own = Object.entries(route.responses);
  const declared = new Set(own.map(([status]) => Number(status)));
  const general = stackStatuses(route).map((status) => [status, describe(status, route)] as const);
  const merged = own.map(([status, definition]): [string, ResponseDefinition] => {
    const also = general.find(([one]) => one === Number(status))?.[1];
    return [status, { ...definition, description: definition.description + (also ? ` Or: ${also}` : '') }];
  });
  const added = new Map(general.filter(([status]) => !declared.has(status)));
  return [
    ...merged,
    ...[...added].map(([status, description]): [string, ResponseDefinition] => [String(status), { description }]),
    ...(route.otherResponses ? [['default', route.otherResponses] as [string, ResponseDefinition]] : []),
  ];
}

/** Every answer that the operation can give, by status. */
export function describeResponses(route: Route, prefix: string, components: Components): Record<string, object> {
  return Object.fromEntries(
    answersOf(route).map(([status, { description, schema, headers = {} }]) => {
      const own: HeaderDefinitions = Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [name, { ...header, required: true }]),
      );
      const content =
        Number(status) >= 400 ? problemContent(Number(status), description) : schema && jsonContent(schema, components);
      const all = components.referHeaders({ ...answerHeadersOf(route, status, prefix), ...own });
      return [status, { description, ...(Object.keys(all).length > 0 ? { headers: all } : {}), ...content }];
    }),
  );
}
