import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../domain/caller.ts';
import {
  logEntityOfToken,
  type LogActorType,
  type LogEntityType,
  type LogEntry,
  type LogOperation,
} from '../domain/logs.ts';

/** Who an entry is written for: an application or a session by its key, the control plane, or the service itself. */
export interface Actor {
  tenantId: string;
  actorId: string | null;
  actorType: LogActorType;
}

/** Who makes a request, as the log names it. */
export function actorOf({ tenantId, applicationId, sessionId }: Caller): Actor {
  return sessionId === undefined
    ? { tenantId, actorId: applicationId, actorType: 'application' }
    : { tenantId, actorId: sessionId, actorType: 'session' };
}

/** The control plane, acting on a tenant. */
export function operatorOf(tenantId: string): Actor {
  return { tenantId, actorId: null, actorType: 'operator' };
}

const PAST_TENSE: Record<LogOperation, string> = {
  create: 'created',
  read: 'read',
  update: 'updated',
  delete: 'deleted',
  detokenize: 'detokenized',
  search: 'found by search',
  use: 'used',
  authorize: 'authorized',
  react: 'invoked',
  expire: 'expired',
};

/** An entry of the audit log; its message names what happened to what, and nothing that was in it. */
export function logEntry(actor: Actor, operation: LogOperation, entityType: LogEntityType, entityId: string): LogEntry {
  return {
    id: uuidv7(),
    tenantId: actor.tenantId,
    actorId: actor.actorId,
    actorType: actor.actorType,
    entityType,
    entityId,
    operation,
    message: `${entityType.replaceAll('_', ' ')} ${PAST_TENSE[operation]}`,
    createdAt: new Date(),
  };
}

/** An entry about a token. */
export function tokenLogEntry(actor: Actor, operation: LogOperation, token: { id: string; type: string }): LogEntry {
  return logEntry(actor, operation, logEntityOfToken(token.type), token.id);
}

/** An entry about a search, whatever it finds; nothing of its query, which may hold data. */
export function searchLogEntry(actor: Actor): LogEntry {
  return { ...logEntry(actor, 'search', 'tenant', actor.tenantId), message: 'tokens searched' };
}
