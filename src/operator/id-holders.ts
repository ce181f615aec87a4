import { declaredId, DEFAULT_TENANT, tenantIdOf } from '../domain/declarations.ts';
import type { DeclaredKind } from '../domain/declarations.ts';
import { stalled } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import { adoptedId, ID_ANNOTATION } from './identity.ts';
import { bySeniority, refOf } from './kinds/resources.ts';
import type { ResourceOf } from './kinds/resources.ts';
import { refKey, renderRef } from './object-ref.ts';
import type { Placement } from './placement.ts';
import type { ReconcileContext } from './reconcilers/types.ts';
import { placeInStatus } from './store.ts';
import type { ResourceStore } from './store.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Where an object of the API is. A tenant is in itself. */
export interface ApiPlace {
  tenantId: string;
  id: string;
}

type Declaring = ResourceOf[DeclaredKind];

/** What tells who has an object of the API. */
export interface HoldingContext {
  store: ResourceStore;
  tenants: Pick<TenantDirectory, 'tenantOf'>;
}

/**
 * Why a resource cannot have a place of the API: each object has one holder. An id that follows from a name goes before
 * one that an annotation asks for; of those that ask, the one that has it already, then the eldest. Anybody may write an
 * annotation, and must not come by the object of another with it.
 */
export function findIdConflict(context: HoldingContext, resource: Declaring, place: ApiPlace): Outcome | undefined {
  const holder = holderBefore(context, resource, place);
  if (holder === undefined) return undefined;
  const message = `The id ${place.id} of the annotation ${ID_ANNOTATION} is that of ${holder}`;
  return stalled('IdConflict', message);
}

/**
 * The place that status tells of, where the resource has it in fact. What is deleted goes by this: whoever could write
 * a status would otherwise have the object of another deleted.
 */
export function heldPlace(context: HoldingContext, resource: Declaring): ApiPlace | undefined {
  const place = placeInStatus(resource);
  if (place === undefined || !mayHave(context, resource, place)) return undefined;
  return holderBefore(context, resource, place) === undefined ? place : undefined;
}

/**
 * The place in the API that a resource is to give up: all that it has, or what it has beside the one that it goes to.
 * A person is told where something stays that status tells of: a former annotation, or one in a former tenant, is no
 * proof.
 */
export function placeToLeave(
  context: HoldingContext & Pick<ReconcileContext, 'source'>,
  resource: Declaring,
  next?: Placement,
): ApiPlace | undefined {
  const told = placeInStatus(resource);
  if (told === undefined || (told.id === next?.id && told.tenantId === next.tenant.id)) return undefined;
  const held = heldPlace(context, resource);
  if (held === undefined) {
    const message = `Left ${told.id} of tenant ${told.tenantId} in the API: it is not known to be of this resource`;
    context.source.recordEvent(refOf(resource), { type: 'Warning', reason: 'LeftInApi', message });
  }
  return held;
}

/** Whose the place is before it is the resource's, for a person. */
function holderBefore(context: HoldingContext, resource: Declaring, place: ApiPlace): string | undefined {
  if (isDerived(resource, place)) return undefined;
  if (place.id === tenantIdOf(DEFAULT_TENANT) && resource.kind === 'Tenant') return `Tenant ${DEFAULT_TENANT}`;
  const rivals = claimantsOf(context, resource, place);
  const holder = rivals.find((rival) => goesBefore(rival, resource, place));
  return holder && renderRef(refOf(holder));
}

/** Others that may have the place, as far as they ask for it or had it. */
function claimantsOf({ store, tenants }: HoldingContext, resource: Declaring, place: ApiPlace): Declaring[] {
  const own = refKey(refOf(resource));
  const found = [
    ...store.listDeclared(resource.kind, place.tenantId, place.id),
    ...store.listAsking(resource.kind, place.id),
  ];
  return [...new Set(found)].filter((other) => refKey(refOf(other)) !== own && mayHave({ tenants }, other, place));
}

function mayHave({ tenants }: Pick<HoldingContext, 'tenants'>, resource: Declaring, place: ApiPlace): boolean {
  if (isDerived(resource, place)) return true;
  const { kind, metadata } = resource;
  if (adoptedId(metadata) !== place.id) return false;
  return kind === 'Tenant' || tenants.tenantOf(metadata.namespace)?.id === place.tenantId;
}

function isDerived({ kind, metadata }: Declaring, { tenantId, id }: ApiPlace): boolean {
  return (
    id ===
    (kind === 'Tenant' ? tenantIdOf(metadata.name) : declaredId(tenantId, kind, metadata.namespace, metadata.name))
  );
}

function goesBefore(one: Declaring, other: Declaring, place: ApiPlace): boolean {
  const has = (resource: Declaring) => {
    const told = placeInStatus(resource);
    return told?.id === place.id && told.tenantId === place.tenantId;
  };
  if (isDerived(one, place)) return true;
  return has(one) === has(other) ? bySeniority(one, other) < 0 : has(one);
}
