import { parseAllDocuments } from 'yaml';
import type { ServiceAccountName } from '../../../src/config/internal-api-settings.ts';

/** One thing that a ServiceAccount may do to one kind of resource. */
export interface Grant {
  /** Undefined: in every namespace, and outside of them. */
  readonly namespace: string | undefined;
  /** `get secrets`, `patch applications.tokenkeep.dev/status`. */
  readonly action: string;
  /** Objects that it is limited to. */
  readonly names: readonly string[] | undefined;
}

interface Role {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  roleRef?: { kind: string; name: string };
  subjects?: { name: string; namespace: string }[];
}

/** As Grant has it. `resource` may hold a subresource: `applications/status`. */
export function actionOf(verb: string, group: string, resource: string): string {
  const [plural = '', ...subresource] = resource.split('/');
  const qualified = group === '' ? plural : `${plural}.${group}`;
  return `${verb} ${[qualified, ...subresource].join('/')}`;
}

/** What the bindings among these manifests grant to a ServiceAccount. */
export function grantsOf(manifests: string, { namespace, name }: ServiceAccountName): Grant[] {
  const documents = parseAllDocuments(manifests).map((document) => document.toJS() as Role | null);
  const all = documents.filter((document) => document !== null);
  const bindings = all.filter(({ subjects = [] }) =>
    subjects.some((subject) => subject.name === name && subject.namespace === namespace),
  );
  return bindings.flatMap(({ roleRef, metadata }) => {
    const role = all.find(
      (each) =>
        each.kind === roleRef?.kind &&
        each.metadata.name === roleRef.name &&
        (each.kind === 'ClusterRole' || each.metadata.namespace === metadata.namespace),
    );
    return grantsIn(role, metadata.namespace);
  });
}

function grantsIn(role: Role | undefined, namespace: string | undefined): Grant[] {
  return (role?.rules ?? []).flatMap(({ apiGroups, resources, resourceNames: names, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ namespace, action: actionOf(verb, group, resource), names })),
      ),
    ),
  );
}
