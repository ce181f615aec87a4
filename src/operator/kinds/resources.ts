import type { DeclaredKind } from '../../domain/declarations.ts';
import type { ObjectRef, ResourceKind } from '../sources/types.ts';
import type { AccessRuleResource } from './access-rule.ts';
import type { ApplicationResource } from './application.ts';
import type { ReactorResource } from './reactor.ts';
import type { TenantResource } from './tenant.ts';

/** The resource of each kind. */
export interface ResourceOf {
  Tenant: TenantResource;
  Application: ApplicationResource;
  AccessRule: AccessRuleResource;
  Reactor: ReactorResource;
}

export type AnyResource = ResourceOf[ResourceKind];

export function refOf<Kind extends ResourceKind>(resource: ResourceOf[Kind]): ObjectRef<Kind> {
  return { kind: resource.kind as Kind, namespace: resource.metadata.namespace, name: resource.metadata.name };
}

/** Whether the resource is on its way out: nothing new is declared for it. */
export function isDeleting(resource: AnyResource): boolean {
  return resource.metadata.deletionTimestamp !== undefined;
}

/** Whether conditions say that what is declared now is in force. */
export function isReady({ metadata, status }: AnyResource): boolean {
  const condition = status?.conditions.find(({ type }) => type === 'Ready');
  return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
}

/** Elder resources first: where two conflict, the elder one stays in force. */
export function bySeniority(a: AnyResource, b: AnyResource): number {
  const ageOf = ({ metadata }: AnyResource) =>
    [metadata.creationTimestamp, metadata.name, metadata.namespace].join(' ');
  return ageOf(a) < ageOf(b) ? -1 : 1;
}

/**
 * Whether what a resource declared outlives it. Either word is enough: status lags behind an edit, which may be the last
 * one before the deletion, and a source may have forgotten the spec by then.
 */
export function isRetained({ spec, status }: ResourceOf[DeclaredKind]): boolean {
  const told = (spec as Partial<typeof spec> | undefined)?.deletionPolicy ?? 'Delete';
  return told !== 'Delete' || status?.deletionPolicy !== 'Delete';
}
