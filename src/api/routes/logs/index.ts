import { LOG_ENTITY_TYPES, type LogEntry } from '../../../domain/logs.ts';
import { followLogs, type LogFilter, type LogParts, readPeriod } from '../../../services/logs.ts';
import { type CursorQuery, presentCursorPage } from '../../pagination.ts';
import { type Route, route } from '../../route.ts';
import { cursorEnvelope, cursorParameters, listOf } from '../../schemas/common.ts';
import * as schema from './schema.ts';

const tag = 'Logs';

function presentLog(entry: LogEntry) {
  return {
    id: entry.id,
    tenant_id: entry.tenantId,
    ...(entry.actorId === null ? {} : { actor_id: entry.actorId }),
    actor_type: entry.actorType,
    entity_type: entry.entityType,
    entity_id: entry.entityId,
    operation: entry.operation,
    message: entry.message,
    created_at: entry.createdAt.toISOString(),
  };
}

function presentEntityType(value: string) {
  const words = value.replaceAll('_', ' ');
  return { display_name: words[0]!.toUpperCase() + words.slice(1), value };
}

export function logRoutes(parts: LogParts): Route[] {
  return [
    route<unknown, CursorQuery & LogFilter & { page: number }>({
      method: 'get',
      path: '/logs',
      operationId: 'listLogs',
      tag,
      summary: 'List logs',
      permission: 'log:read',
      parameters: [...schema.logFilters, schema.logPage, ...cursorParameters],
      refineQuery: readPeriod,
      responses: { 200: { description: 'A page, newest first.', schema: cursorEnvelope(schema.log) } },
      async handle({ caller, query }) {
        const page = await followLogs(parts, caller, query, query);
        return { status: 200, body: presentCursorPage(page, query, presentLog) };
      },
    }),
    route({
      method: 'get',
      path: '/logs/entity-types',
      operationId: 'listLogEntityTypes',
      tag,
      summary: 'List what logs can be about',
      permission: 'log:read',
      responses: {
        200: { description: 'Every entity type.', schema: listOf(schema.entityType) },
      },
      async handle() {
        return { status: 200, body: LOG_ENTITY_TYPES.map(presentEntityType) };
      },
    }),
  ];
}
