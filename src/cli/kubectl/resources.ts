import type { ResourcePath } from '../../platform/kubernetes/paths.ts';
import type { Cluster } from './cluster.ts';
import { PluginError } from './plugin-error.ts';

/** A kind of what is declared. */
export interface Kind {
  readonly name: 'Tenant' | 'Application' | 'AccessRule' | 'Reactor';
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/** As much of a declared resource as this program looks at. */
export interface Resource {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly creationTimestamp?: string;
    readonly managedFields?: unknown;
  };
  readonly status?: {
    readonly conditions?: readonly unknown[];
    readonly id?: string;
    readonly tenantId?: string;
    readonly secretName?: string;
  };
}

/** In the order in which each needs what stands before it. */
export const KINDS: readonly Kind[] = [
  { name: 'Tenant', plural: 'tenants', isNamespaced: false },
  { name: 'Application', plural: 'applications', isNamespaced: true },
  { name: 'AccessRule', plural: 'accessrules', isNamespaced: true },
  { name: 'Reactor', plural: 'reactors', isNamespaced: true },
];

/** The collection, or one of it. */
export function resourcePath({ plural, isNamespaced }: Kind, namespace?: string, name?: string): ResourcePath {
  return {
    ...{ group: 'tokenkeep.dev', version: 'v1alpha1', plural },
    ...(isNamespaced && namespace !== undefined ? { namespace } : {}),
    ...(name === undefined ? {} : { name }),
  };
}

/** A resource of the command's namespace, for which the API has an id. */
export async function readResource(
  { client, namespace }: Cluster,
  kind: 'Application' | 'Reactor',
  name: string,
): Promise<Resource> {
  const found = await client.read<Resource>(
    resourcePath(
      KINDS.find((each) => each.name === kind)!,
      namespace,
      name,
    ),
  );
  if (found === undefined) throw new PluginError(`there is no ${kind} ${name} in the namespace ${namespace}`);
  return found;
}
