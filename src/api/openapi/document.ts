import type { Route, Schema } from '../route.ts';
import { problem } from '../schemas/common.ts';
import { closeObjects } from '../validation/validator.ts';
import { createComponents } from './components.ts';
import { describeOperation } from './operation.ts';
import { describeServicePaths } from './service-operations.ts';
import { TAGS } from './tags.ts';
import { describeUnservedPaths } from './unserved-operations.ts';

export interface DocumentOptions {
  readonly version: string;
  readonly headerPrefix: string;
}

/** Tags in the order of their list, each with what it is about. Throws where one is not listed. */
function describeTags(routes: readonly Route[]): object[] {
  const used = new Set([...routes.map(({ tag }) => tag), 'Service']);
  const unlisted = [...used].filter((tag) => !(tag in TAGS));
  if (unlisted.length > 0) throw new Error(`Tags without a description: ${unlisted.join(', ')}`);
  return Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []));
}

/** The OpenAPI 3.1 document of exactly these routes, from the schemas that validate their requests and answers. */
export function createDocument(routes: readonly Route[], options: DocumentOptions): Schema {
  const { headerPrefix } = options;
  const components = createComponents();
  components.refer(closeObjects(problem));
  const served = routes.filter(({ method }) => method !== 'all');
  const unserved = routes.filter(({ method }) => method === 'all');
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of served) {
    (paths[route.path] ??= {})[route.method] = describeOperation(route, headerPrefix, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tokenkeep',
      version: options.version,
      summary: 'A self-hosted token vault.',
      description: 'Stores secrets as tokens and shows them redacted, masked or revealed as access rules say.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The vault that gives out this document.' }],
    security: [{ applicationKey: [] }],
    tags: describeTags(routes),
    paths: {
      ...paths,
      ...describeServicePaths(headerPrefix, components),
      ...describeUnservedPaths(unserved, headerPrefix, components),
    },
    components: {
      securitySchemes: {
        applicationKey: {
          type: 'apiKey',
          in: 'header',
          name: `${headerPrefix}-API-KEY`,
          description:
            'A key of an application, or of a session. What it may do, its permissions and access rules decide.',
        },
      },
      schemas: components.schemas,
      headers: components.headers,
    },
  };
}
