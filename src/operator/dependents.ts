import { isDeepStrictEqual } from 'node:util';
import { adoptedId, tenantIdFor } from './identity.ts';
import type { AccessRuleResource } from './kinds/access-rule.ts';
import type { ApplicationResource } from './kinds/application.ts';
import { isReady, refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import type { TenantResource } from './kinds/tenant.ts';
import { nameKey } from './lookups.ts';
import { refKey } from './object-ref.ts';
import { applicationsFor, rulesFor } from './rule-resolution.ts';
import { RESOURCE_KINDS } from './sources/types.ts';
import type { ObjectRef, ReferentKind, ResourceKind } from './sources/types.ts';
import { placeInStatus } from './store.ts';
import type { ResourceStore } from './store.ts';

const keyOf = (resource: AnyResource) => refKey(refOf(resource));

/** Whether more than status changed, so that the resource itself is to be looked at. */
export function needsReconciling(now: AnyResource, before: AnyResource | undefined): boolean {
  const relevant = (resource: AnyResource) => {
    const { uid, generation, labels, annotations, deletionTimestamp } = resource.metadata;
    return JSON.stringify([uid, generation, labels, annotations, deletionTimestamp]);
  };
  return before === undefined || relevant(now) !== relevant(before);
}

/** Keys of the resources whose state hangs on this one, in its version now and before. */
export function dependentsOf(
  store: ResourceStore,
  now: AnyResource | undefined,
  before: AnyResource | undefined,
): string[] {
  const current = now ?? before;
  if (current === undefined) return [];
  return [...rivalsOf(store, current, now, before), ...dependentsByKind(store, current, now, before)];
}

function dependentsByKind(
  store: ResourceStore,
  current: AnyResource,
  now: AnyResource | undefined,
  before: AnyResource | undefined,
): string[] {
  const versions = [now, before].filter((version) => version !== undefined);
  switch (current.kind) {
    case 'Tenant':
      return placesOthers(now as TenantResource | undefined, before as TenantResource | undefined)
        ? everyKey(store)
        : [];
    case 'Application': {
      const applications = versions as ApplicationResource[];
      const isSame = applications.length === 2 && standingOf(applications[0]!) === standingOf(applications[1]!);
      return isSame ? [] : dependentsOfApplication(store, applications);
    }
    case 'AccessRule': {
      const hasChanged = now === undefined || needsReconciling(now, before);
      return hasChanged ? applicationsOf(store, versions as AccessRuleResource[]) : [];
    }
    case 'Reactor':
      return [];
  }
}

/** Others that ask for an id of the API, where this resource began or ceased to have it or to ask for it. */
function rivalsOf(
  store: ResourceStore,
  current: AnyResource,
  now: AnyResource | undefined,
  before: AnyResource | undefined,
): string[] {
  if (current.kind === 'AccessRule') return [];
  const claimsOf = (resource: AnyResource | undefined) =>
    resource && { uid: resource.metadata.uid, has: placeInStatus(resource), asks: adoptedId(resource.metadata) };
  const claims = [claimsOf(now), claimsOf(before)];
  if (isDeepStrictEqual(claims[0], claims[1])) return [];
  const ids = new Set(claims.flatMap((claim) => [claim?.has?.id, claim?.asks]).filter((id) => id !== undefined));
  const { kind } = current;
  return [...ids].flatMap((id) => [...store.listAsking(kind, id)].map(keyOf)).filter((key) => key !== keyOf(current));
}

/** Whether a namespace may belong to another tenant than before, or to one of another id or type. */
function placesOthers(now: TenantResource | undefined, before: TenantResource | undefined): boolean {
  const relevant = ({ metadata, spec }: TenantResource) => {
    const { uid, deletionTimestamp } = metadata;
    const place = deletionTimestamp === undefined ? [tenantIdFor(metadata), spec.type, spec.namespaces] : [];
    return JSON.stringify([uid, deletionTimestamp, ...place]);
  };
  return now === undefined || before === undefined || relevant(now) !== relevant(before);
}

/**
 * What AccessRules and Reactors see of an Application. It is written several times on its way to being Ready, and they
 * would otherwise show that they wait for it, and soon after that they do not.
 */
function standingOf(application: ApplicationResource): string {
  const { uid, generation, labels, deletionTimestamp } = application.metadata;
  const isInForce = isReady(application);
  const { id, tenantId, accessRules } = application.status ?? {};
  return JSON.stringify([
    uid,
    generation,
    labels,
    deletionTimestamp,
    isInForce,
    isInForce && [id, tenantId],
    accessRules,
  ]);
}

/** Keys of the resources that refer to a ConfigMap or Secret. */
export function referrersOf(store: ResourceStore, { kind, namespace, name }: ObjectRef<ReferentKind>): string[] {
  const key = nameKey(kind, namespace, name);
  return [...store.find('reactorsReferring', key), ...store.find('applicationsReferring', key)].map(keyOf);
}

/** Keys of the resources that may refer to any ConfigMap, or to any Secret. */
export function everyReferrer(store: ResourceStore, kind: ReferentKind): string[] {
  if (kind === 'Secret') return [...keysOf(store, 'Application'), ...keysOf(store, 'Reactor')];
  const reactors = store.list('Reactor').filter(({ spec }) => spec.codeFrom !== undefined);
  return reactors.map(keyOf);
}

/** Every resource that there is. */
export function everyKey(store: ResourceStore): string[] {
  return RESOURCE_KINDS.flatMap((kind) => keysOf(store, kind));
}

/** Every resource of a namespace. */
export function keysIn(store: ResourceStore, namespace: string): string[] {
  return RESOURCE_KINDS.filter((kind) => kind !== 'Tenant').flatMap((kind) => store.list(kind, namespace).map(keyOf));
}

export function keysOf(store: ResourceStore, kind: ResourceKind): string[] {
  return store.list(kind).map(keyOf);
}

function dependentsOfApplication(store: ResourceStore, versions: ApplicationResource[]): string[] {
  const { namespace, name } = versions[0]!.metadata;
  const rules = versions.flatMap((application) => rulesFor(store, application));
  const reactors = store.find('reactorsReferring', nameKey('Application', namespace, name));
  return [...new Set([...rules, ...reactors])].map(keyOf);
}

function applicationsOf(store: ResourceStore, versions: AccessRuleResource[]): string[] {
  return [...new Set(versions.flatMap((rule) => applicationsFor(store, rule)))].map(keyOf);
}
