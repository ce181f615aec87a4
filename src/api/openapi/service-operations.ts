import type { Schema } from '../route.ts';
import type { Components } from './components.ts';
import {
  type HeaderDefinitions,
  generalHeaders,
  retryAfterHeaders,
  traceAnswerHeader,
  traceHeader,
  unstoredHeaders,
} from './headers.ts';
import { jsonContent, problemContent } from './responses.ts';

interface ServiceAnswer {
  readonly description: string;
  readonly schema?: Schema;
  readonly mediaType?: string;
  readonly headers?: HeaderDefinitions;
}

interface ServiceOperation {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly answers: Readonly<Record<number, ServiceAnswer>>;
  /** Probes are not: they come often, and from one address. */
  readonly limited: boolean;
}

const readiness = (ready: boolean): Schema => ({
  type: 'object',
  required: ['status', 'failures', 'degraded'],
  properties: {
    status: { type: 'string', enum: [ready ? 'ready' : 'not ready'], description: 'Whether requests may be sent.' },
    failures: { type: 'array', items: { type: 'string' }, description: 'Names of what is not ready.' },
    degraded: {
      type: 'array',
      items: { type: 'string' },
      description: 'Names of what serves for a while yet, unless an operator mends it.',
    },
  },
  examples: ready
    ? [
        { status: 'ready', failures: [], degraded: [] },
        { status: 'ready', failures: [], degraded: ['key-management'] },
      ]
    : [{ status: 'not ready', failures: ['postgres'], degraded: [] }],
});

const liveness: Schema = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['ok'], description: 'That the process answers.' } },
  examples: [{ status: 'ok' }],
};

const contentPolicy: HeaderDefinitions = {
  'Content-Security-Policy': {
    description: 'Keeps the page from running anything, and from fetching anything.',
    required: true,
    schema: { type: 'string' },
  },
};

/** What needs no key. It is mounted by `mountServiceRoutes`. */
const SERVICE_OPERATIONS: readonly ServiceOperation[] = [
  {
    path: '/healthz',
    operationId: 'getLiveness',
    summary: 'Whether the process is alive',
    description: 'For liveness probes: restart what does not answer. It asks for nothing but this process.',
    answers: { 200: { description: 'The process is alive.', schema: liveness } },
    limited: false,
  },
  {
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Whether requests may be sent',
    description: 'For readiness probes and load balancers: send requests elsewhere while it is not ready.',
    answers: {
      200: { description: 'The process can serve.', schema: readiness(true) },
      503: { description: 'It cannot serve now, or is about to stop.', schema: readiness(false) },
    },
    limited: false,
  },
  {
    path: '/openapi.json',
    operationId: 'getDocument',
    summary: 'Read this description',
    description: 'OpenAPI 3.1, made from the declarations that requests are checked by.',
    answers: { 200: { description: 'This document.', schema: { type: 'object', additionalProperties: true } } },
    limited: true,
  },
  {
    path: '/docs',
    operationId: 'getPage',
    summary: 'Read this description as a page',
    description: 'For people: the same in HTML, without scripts, images or anything from elsewhere.',
    answers: {
      200: { description: 'The page.', schema: { type: 'string' }, mediaType: 'text/html', headers: contentPolicy },
    },
    limited: true,
  },
];

function describeAnswer(
  { schema, mediaType, ...answer }: ServiceAnswer,
  headers: HeaderDefinitions,
  components: Components,
): object {
  const content =
    mediaType === undefined ? schema && jsonContent(schema, components) : { content: { [mediaType]: { schema } } };
  return {
    description: answer.description,
    headers: components.referHeaders({ ...headers, ...answer.headers }),
    ...content,
  };
}

/** The paths that need no key, as the document has them under `paths`. */
export function describeServicePaths(prefix: string, components: Components): Record<string, object> {
  return Object.fromEntries(
    SERVICE_OPERATIONS.map(({ path, answers, limited, ...operation }) => {
      const headers = limited ? generalHeaders(prefix) : traceAnswerHeader(prefix);
      const failed = { ...headers, ...unstoredHeaders };
      const problem = (status: number, description: string, own: HeaderDefinitions) => ({
        [status]: { description, headers: components.referHeaders(own), ...problemContent(status, description) },
      });
      const responses = {
        ...Object.fromEntries(
          Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer, headers, components)]),
        ),
        ...(limited ? problem(429, 'Too many requests from this address.', { ...failed, ...retryAfterHeaders }) : {}),
        ...problem(431, 'The request line and the headers are larger than 16 KiB together.', {}),
        ...problem(500, 'A fault of the service.', failed),
      };
      const get = { ...operation, tags: ['Service'], security: [], parameters: [traceHeader(prefix)], responses };
      return [path, { get }];
    }),
  );
}
