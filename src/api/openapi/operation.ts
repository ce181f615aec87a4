import type { Route } from '../route.ts';
import type { Components } from './components.ts';
import { requestHeadersOf } from './headers.ts';
import { describeResponses } from './responses.ts';

/** What a key must have for the operation, for a person. */
function needsOf({ permission, applicationType }: Route): string {
  if (permission !== null) return `Permission: \`${permission}\`.`;
  return `Any valid key${applicationType === undefined ? '' : ` of a ${applicationType} application`}.`;
}

function describeBody({ body }: Route, components: Components): object {
  if (body === undefined) return {};
  const { contentType, schema, example } = body;
  const content = { schema: components.refer(schema), ...(example === undefined ? {} : { example }) };
  return { requestBody: { required: true, content: { [contentType]: content } } };
}

/** One operation as the document has it under its path and method. */
export function describeOperation(route: Route, prefix: string, components: Components): Record<string, unknown> {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, needsOf(route)].filter(Boolean).join('\n\n'),
    ...(route.deprecated ? { deprecated: true } : {}),
    // Roles, as OpenAPI 3.1 has them for schemes other than OAuth.
    security: [{ applicationKey: route.permission === null ? [] : [route.permission] }],
    parameters: [...(route.parameters ?? []), ...requestHeadersOf(route, prefix)],
    ...describeBody(route, components),
    responses: describeResponses(route, prefix, components),
  };
}
