import { stringify } from 'yaml';
import type { Condition, ReportedResource } from '../../domain/resource-status.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import { renderPath } from '../../platform/kubernetes/paths.ts';
import { isReady, renderResources } from '../status.ts';
import type { Cluster } from './cluster.ts';
import type { PluginOptions, Terminal } from './options.ts';
import { KINDS, resourcePath } from './resources.ts';
import type { Kind, Resource } from './resources.ts';

/** The API server's own rendering of a list, by the columns of the definition. */
interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows?:
    readonly { readonly cells: readonly (string | number | boolean | null)[]; readonly object: Resource }[] | null;
}

interface Listed {
  readonly kind: Kind;
  readonly table: Table;
}

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
/** Shown in a place of their own. */
const SHOWN_ELSEWHERE = new Set(['Name', 'Age', 'Message']);

/**
 * Writes the conditions of every resource of the namespace, or of all, and of the Tenants, which are of the cluster.
 *
 * Resolves to the exit code: 0 where everything is Ready, else 1.
 */
export async function printClusterStatus(
  cluster: Cluster,
  { output, allNamespaces }: PluginOptions,
  { write, report }: Terminal,
): Promise<number> {
  const lists: Listed[] = [];
  for (const kind of KINDS) {
    const namespace = allNamespaces ? undefined : cluster.namespace;
    try {
      lists.push({ kind, table: await listAsTable(cluster, kind, namespace) });
    } catch (error) {
      // Who works in one namespace may well not see what is of the cluster.
      const isPassedOver = error instanceof KubernetesError && error.status === 403 && !kind.isNamespaced;
      if (!isPassedOver) throw error;
      report(`Without Tenants: ${error.detail ?? error.message}`);
    }
  }
  const objects = lists.flatMap(({ table }) => (table.rows ?? []).map(({ object }) => withoutManagedFields(object)));
  const resources = lists.flatMap((listed) => resourcesOf(listed, output === 'wide'));
  if (output === 'json' || output === 'yaml') write(renderList(objects, output));
  else if (resources.length === 0) write(`Nothing is declared in ${allNamespaces ? 'the cluster' : cluster.namespace}`);
  else write(renderResources(resources, Date.now()).join('\n').trimEnd());
  return resources.every(isReady) ? 0 : 1;
}

function listAsTable({ requests }: Cluster, kind: Kind, namespace: string | undefined): Promise<Table> {
  const query = new URLSearchParams({ includeObject: 'Object' });
  const path = renderPath(resourcePath(kind, namespace));
  return requests.whole<Table>({ method: 'GET', path, query, accept: AS_TABLE });
}

function resourcesOf({ kind, table }: Listed, isWide: boolean): ReportedResource[] {
  const shown = table.columnDefinitions
    .map(({ name, priority }, index) => ({ name, priority, index }))
    .filter(({ name, priority }) => (isWide || priority === 0) && !SHOWN_ELSEWHERE.has(name));
  return (table.rows ?? []).map(({ cells, object }) => ({
    kind: kind.name,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
    creationTimestamp: object.metadata.creationTimestamp ?? '',
    columns: shown.map(({ name, index }) => ({ name, value: textOf(cells[index]) })),
    conditions: (object.status?.conditions ?? []) as Condition[],
  }));
}

const textOf = (cell: string | number | boolean | null | undefined): string => String(cell ?? '');

function withoutManagedFields(object: Resource): Resource {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function renderList(items: readonly Resource[], format: 'json' | 'yaml'): string {
  const list = { apiVersion: 'v1', kind: 'List', items };
  return format === 'json' ? JSON.stringify(list, undefined, 4) : stringify(list).trimEnd();
}
