import type { Logger } from '../../platform/logger.ts';
import { renderRef } from '../object-ref.ts';
import type { ObjectRef, ResourceEvent, ResourceKind } from './types.ts';

/** Events are for the people of a resource; the log has them for those who run the operator. */
export function logEvent(logger: Logger, ref: ObjectRef<ResourceKind>, { type, reason, message }: ResourceEvent): void {
  const fields = { resource: renderRef(ref), reason, detail: message };
  if (type === 'Warning') logger.warn(fields, 'Recorded an event');
  else logger.info(fields, 'Recorded an event');
}
