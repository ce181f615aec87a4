import type { Parameter, Route } from '../route.ts';
import type { Components } from './components.ts';
import { describeOperation } from './operation.ts';

function pathParametersOf(path: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    description: 'Any text: it is not looked at.',
    schema: { type: 'string' },
  }));
}

/** What clients know at paths that are not served, as the document has it under `paths`. */
export function describeUnservedPaths(
  routes: readonly Route[],
  prefix: string,
  components: Components,
): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    for (const { method, path, operationId, summary } of route.known ?? []) {
      const known: Route = { ...route, path, operationId, summary, parameters: pathParametersOf(path) };
      (paths[path] ??= {})[method] = describeOperation(known, prefix, components);
    }
  }
  return paths;
}
