import { validate as isUuid } from 'uuid';
import { declaredId, tenantIdOf } from '../domain/declarations.ts';
import type { ObjectMeta } from './sources/types.ts';

export const ID_ANNOTATION = 'tokenkeep.dev/id';
const PAUSE_ANNOTATION = 'tokenkeep.dev/pause';

/** Whether the resource asks to be left as it is. */
export function isPaused({ annotations }: ObjectMeta): boolean {
  return annotations[PAUSE_ANNOTATION] === 'true';
}

/**
 * The id of a tenant in the API: adopted by annotation, else from its name. Undefined where the annotation is no UUID.
 */
export function tenantIdFor(metadata: ObjectMeta): string | undefined {
  return adopted(metadata, () => tenantIdOf(metadata.name));
}

/** The id of an application or reactor, as `tenantIdFor`. */
export function resourceIdFor(
  tenantId: string,
  kind: 'Application' | 'Reactor',
  metadata: ObjectMeta,
): string | undefined {
  return adopted(metadata, () => declaredId(tenantId, kind, metadata.namespace, metadata.name));
}

export const ID_NOT_VALID = `The annotation ${ID_ANNOTATION} is not a UUID`;

/** The id that the annotation asks for; undefined where it asks for none, or for what is no UUID. */
export function adoptedId({ annotations }: ObjectMeta): string | undefined {
  const id = annotations[ID_ANNOTATION];
  return id !== undefined && isUuid(id) ? id.toLowerCase() : undefined;
}

function adopted(metadata: ObjectMeta, derive: () => string): string | undefined {
  return metadata.annotations[ID_ANNOTATION] === undefined ? derive() : adoptedId(metadata);
}
