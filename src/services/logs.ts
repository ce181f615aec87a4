import type { Database } from '../data/database.ts';
import { listLogs } from '../data/logs.ts';
import type { Caller } from '../domain/caller.ts';
import { ViolationCollector } from '../domain/errors.ts';
import { INSTANT_FORMATS, parseInstant } from '../domain/instants.ts';
import type { LogEntry } from '../domain/logs.ts';
import { type Cursors, cutPage } from './cursors.ts';

export interface LogParts {
  readonly database: Database;
  readonly cursors: Cursors;
}

export interface LogFilter {
  entity_type?: string;
  entity_id?: string;
  start_date?: string;
  end_date?: string;
}

function readDate(text: string | undefined, path: string, violations: ViolationCollector): Date | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant === undefined) violations.add(path, INSTANT_FORMATS);
  return instant;
}

/** The time that a filter asks for, from its start to before its end. Records dates that cannot be read. */
export function readPeriod({ start_date: start, end_date: end }: LogFilter, violations: ViolationCollector) {
  return { from: readDate(start, 'start_date', violations), until: readDate(end, 'end_date', violations) };
}

/**
 * The tenant's log after a cursor, newest first, as far back as the tenant's log retention reaches. `page` counts pages
 * from the cursor, or from the newest entry; entries written meanwhile move those of pages without a cursor.
 */
export async function followLogs(
  { database, cursors }: LogParts,
  caller: Caller,
  filter: LogFilter,
  { start, page = 1, size }: { start?: string; page?: number; size: number },
): Promise<{ items: LogEntry[]; next: string | null }> {
  const { tenantId, quotas } = caller;
  const violations = new ViolationCollector();
  const { from, until } = readPeriod(filter, violations);
  violations.throwIfAny();
  const after = start === undefined ? undefined : await cursors.decode(tenantId, 'logs', start);
  const entries = await listLogs(database, {
    tenantId,
    entityType: filter.entity_type,
    entityId: filter.entity_id,
    from,
    until,
    retentionSeconds: quotas.logRetentionSeconds,
    after,
    offset: (page - 1) * size,
    limit: size + 1,
  });
  const { items, last } = cutPage(entries, size);
  return { items, next: last === undefined ? null : await cursors.encode(tenantId, 'logs', last) };
}
