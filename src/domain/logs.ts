export type LogOperation =
  'create' | 'read' | 'update' | 'delete' | 'detokenize' | 'search' | 'use' | 'authorize' | 'react' | 'expire';

/** What an entry can be about; a token of type card or bank is logged as such. */
export const LOG_ENTITY_TYPES = [
  'token',
  'card',
  'bank',
  'application',
  'application_key',
  'reactor',
  'proxy',
  'session',
  'tenant',
] as const;
export type LogEntityType = (typeof LOG_ENTITY_TYPES)[number];

/** Who acted: an application or a session by its key, the control plane by a declaration, or the service itself. */
export type LogActorType = 'application' | 'session' | 'operator' | 'system';

/** One line of the audit log. Never holds token data; ids outlive what they name. */
export interface LogEntry {
  /** UUIDv7. */
  id: string;
  tenantId: string;
  actorId: string | null;
  actorType: LogActorType;
  entityType: LogEntityType;
  entityId: string;
  operation: LogOperation;
  message: string;
  createdAt: Date;
}

/** The entity type under which a token of this type is logged. */
export function logEntityOfToken(tokenType: string): LogEntityType {
  return tokenType === 'card' || tokenType === 'bank' ? tokenType : 'token';
}
