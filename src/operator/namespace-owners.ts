import { bySeniority } from './kinds/resources.ts';
import type { TenantResource } from './kinds/tenant.ts';
import { matchesLabels } from './label-selector.ts';

export type NamespaceLabels = Readonly<Record<string, string>>;

/** What a change of a namespace's labels came to. */
export interface NamespaceChange {
  /** Whether it belongs to another tenant than before. */
  moved: boolean;
  /** Names of the Tenants whose selector met its labels before and does not now, or the other way round. */
  tenants: string[];
}

/**
 * Which Tenant asks for which namespace. One that names it goes before all that select it by label; among those that
 * ask in the same way, the eldest has it.
 */
export interface NamespaceOwners {
  /** `'unknown'` where a selector may decide, and the labels of the namespace are not known yet. */
  ownerOf(namespace: string): TenantResource | 'unknown' | undefined;
  /** A namespace that the Tenant asks for and an elder one has, by asking in the same way. */
  findRival(tenant: TenantResource): { namespace: string; name: string } | undefined;
  tenantsChanged(): void;
  namespaceChanged(namespace: string, labels: NamespaceLabels | undefined): NamespaceChange;
}

/** Rebuilt after Tenants changed; `owners` grows with what is asked for. */
interface Index {
  byName: Map<string, TenantResource>;
  hasSelectors: boolean;
  /** Those whose selector asks for a label with a value, under the first such pair. */
  byLabel: Map<string, TenantResource[]>;
  /** Those whose selector asks for none. */
  byExpressions: TenantResource[];
  owners: Map<string, TenantResource | 'unknown' | undefined>;
}

// The API server puts it on every Namespace, so that a selector can name one.
const NAME_LABEL = 'kubernetes.io/metadata.name';

/**
 * Answers from an index. With `areImplicit`, a namespace whose labels nobody told of has those that every namespace
 * has: a folder need not declare its namespaces.
 */
export function createNamespaceOwners(listTenants: () => TenantResource[], areImplicit: boolean): NamespaceOwners {
  const labelsByNamespace = new Map<string, NamespaceLabels>();
  let current: Index | undefined;
  const index = () => (current ??= buildIndex(listTenants()));

  const labelsOf = (namespace: string) =>
    labelsByNamespace.get(namespace) ?? (areImplicit ? { [NAME_LABEL]: namespace } : undefined);

  function findOwner(namespace: string): TenantResource | 'unknown' | undefined {
    const { byName, hasSelectors } = index();
    const named = byName.get(namespace);
    if (named !== undefined || !hasSelectors) return named;
    const labels = labelsOf(namespace);
    return labels === undefined ? 'unknown' : selecting(index(), labels)[0];
  }

  function ownerOf(namespace: string): TenantResource | 'unknown' | undefined {
    const { owners } = index();
    if (!owners.has(namespace)) owners.set(namespace, findOwner(namespace));
    return owners.get(namespace);
  }

  function elderOf(tenant: TenantResource, namespace: string): TenantResource | undefined {
    const { byName } = index();
    if (tenant.spec.namespaces?.matchNames !== undefined) return byName.get(namespace);
    const owner = byName.has(namespace) ? undefined : ownerOf(namespace);
    return owner === 'unknown' ? undefined : owner;
  }

  return {
    ownerOf,
    findRival(tenant) {
      const { matchNames, selector } = tenant.spec.namespaces ?? {};
      const selected = () =>
        [...labelsByNamespace].filter(([, labels]) => selects(tenant, labels)).map(([name]) => name);
      for (const namespace of matchNames ?? (selector === undefined ? [] : selected())) {
        const name = elderOf(tenant, namespace)?.metadata.name;
        if (name !== undefined && name !== tenant.metadata.name) return { namespace, name };
      }
      return undefined;
    },
    tenantsChanged() {
      current = undefined;
    },
    namespaceChanged(namespace, labels) {
      const { owners } = index();
      const look = () => {
        const known = labelsOf(namespace);
        return { owner: ownerOf(namespace), tenants: known === undefined ? [] : selecting(index(), known) };
      };
      const before = look();
      if (labels === undefined) labelsByNamespace.delete(namespace);
      else labelsByNamespace.set(namespace, { ...labels, [NAME_LABEL]: namespace });
      owners.delete(namespace);
      const now = look();
      const left = before.tenants.filter((tenant) => !now.tenants.includes(tenant));
      const joined = now.tenants.filter((tenant) => !before.tenants.includes(tenant));
      return {
        moved: before.owner !== now.owner,
        tenants: [...left, ...joined].map(({ metadata }) => metadata.name),
      };
    },
  };
}

function buildIndex(tenants: TenantResource[]): Index {
  const byName = new Map<string, TenantResource>();
  const eldestFirst = tenants.toSorted(bySeniority);
  for (const tenant of eldestFirst) {
    for (const namespace of tenant.spec.namespaces?.matchNames ?? []) {
      if (!byName.has(namespace)) byName.set(namespace, tenant);
    }
  }
  const selective = eldestFirst.filter(({ spec }) => spec.namespaces?.selector !== undefined);
  const firstPairOf = ({ spec }: TenantResource) => Object.entries(spec.namespaces?.selector?.matchLabels ?? {})[0];
  const byLabel = Map.groupBy(selective, (tenant) => firstPairOf(tenant)?.join('=') ?? '');
  const byExpressions = byLabel.get('') ?? [];
  return { byName, hasSelectors: selective.length > 0, byLabel, byExpressions, owners: new Map() };
}

/** The Tenants whose selector labels meet, from the eldest on. */
function selecting({ byLabel, byExpressions }: Index, labels: NamespaceLabels): TenantResource[] {
  const candidates = Object.entries(labels).flatMap((pair) => byLabel.get(pair.join('=')) ?? []);
  return [...byExpressions, ...candidates].filter((tenant) => selects(tenant, labels)).sort(bySeniority);
}

function selects({ spec }: TenantResource, labels: NamespaceLabels): boolean {
  return spec.namespaces?.selector !== undefined && matchesLabels(spec.namespaces.selector, labels);
}
