import { secretNameOf } from './application-keys.ts';
import type { AccessRuleResource } from './kinds/access-rule.ts';
import type { ApplicationResource } from './kinds/application.ts';
import { refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import { refKey } from './object-ref.ts';
import { selects } from './rule-resolution.ts';
import { RESOURCE_KINDS } from './sources/types.ts';
import type { ObjectRef, ReferentKind, ResourceKind } from './sources/types.ts';
import type { ResourceStore } from './store.ts';

const keyOf = (resource: AnyResource) => refKey(refOf(resource));

/** Whether more than status changed, so that the resource itself is to be looked at. */
export function needsReconciling(now: AnyResource, before: AnyResource | undefined): boolean {
  const relevant = (resource: AnyResource) => {
    const { generation, labels, annotations, deletionTimestamp } = resource.metadata;
    return JSON.stringify([generation, labels, annotations, deletionTimestamp]);
  };
  return before === undefined || relevant(now) !== relevant(before);
}

/** Keys of the resources whose state hangs on this one, in its version now and before. */
export function dependentsOf(
  store: ResourceStore,
  now: AnyResource | undefined,
  before: AnyResource | undefined,
): string[] {
  const versions = [now, before].filter((version) => version !== undefined);
  const [current] = versions;
  if (current === undefined) return [];
  switch (current.kind) {
    case 'Tenant': {
      const hasChanged = now === undefined || needsReconciling(now, before);
      return hasChanged ? everyKey(store) : [];
    }
    case 'Application':
      return dependentsOfApplication(store, versions as ApplicationResource[]);
    case 'AccessRule': {
      const hasChanged = now === undefined || needsReconciling(now, before);
      return hasChanged ? applicationsOf(store, versions as AccessRuleResource[]) : [];
    }
    case 'Reactor':
      return [];
  }
}

/** Keys of the resources that refer to a ConfigMap or Secret. */
export function referrersOf(store: ResourceStore, { kind, namespace, name }: ObjectRef<ReferentKind>): string[] {
  const reactors = store.list('Reactor', namespace).filter(({ spec, metadata }) => {
    if (metadata.deletionTimestamp !== undefined) return false;
    if (kind === 'ConfigMap') return spec.codeFrom?.configMap.name === name;
    return spec.configurationFrom.some(({ secret }) => secret.name === name);
  });
  if (kind === 'ConfigMap') return reactors.map(keyOf);
  const applications = store.list('Application', namespace).filter((application) => {
    if (application.metadata.deletionTimestamp !== undefined) return false;
    return secretNameOf(application) === name || application.spec.key.fromSecret?.name === name;
  });
  return [...reactors, ...applications].map(keyOf);
}

/** Every resource that there is. */
export function everyKey(store: ResourceStore): string[] {
  return RESOURCE_KINDS.flatMap((kind) => keysOf(store, kind));
}

export function keysOf(store: ResourceStore, kind: ResourceKind): string[] {
  return store.list(kind).map(keyOf);
}

function dependentsOfApplication(store: ResourceStore, versions: ApplicationResource[]): string[] {
  const { namespace, name } = versions[0]!.metadata;
  const rules = store
    .list('AccessRule', namespace)
    .filter((rule) => versions.some((application) => selects(rule, application)));
  const reactors = store.list('Reactor', namespace).filter(({ spec }) => spec.applicationRef?.name === name);
  return [...rules, ...reactors].map(keyOf);
}

function applicationsOf(store: ResourceStore, versions: AccessRuleResource[]): string[] {
  const { namespace } = versions[0]!.metadata;
  return store
    .list('Application', namespace)
    .filter((application) => versions.some((rule) => selects(rule, application)))
    .map(keyOf);
}
