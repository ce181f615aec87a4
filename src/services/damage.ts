import { DomainError } from '../domain/errors.ts';
import type { LogEntry } from '../domain/logs.ts';
import type { SealedPlace } from '../keys/sealing.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';

/** Where a sealed value, or a wrapped key, was found that is not what was stored there. */
export type DamagedPlace = Omit<SealedPlace, 'version'>;

/** Counts and logs what is found damaged: nobody but the operator can mend it, or find out who did it. */
export function createDamageReport({
  metrics,
  logger,
}: {
  readonly metrics: Metrics;
  readonly logger: Logger;
}): (place: DamagedPlace) => void {
  const found = metrics.counter({
    name: 'seal_broken_total',
    help: 'Sealed values and wrapped keys that were refused as altered, moved, put back or without their key.',
    labels: ['table', 'column'],
  });
  return ({ tenantId, table, rowId, column }) => {
    found.inc({ table, column });
    logger.error(
      { tenantId, table, column, rowId },
      'A sealed value was refused: it was altered or moved, or its key is gone. Restore the row from a backup, and ' +
        'find out who can write to the database',
    );
  };
}

/**
 * The failure of a request that needs what is damaged; `what` names it by its id.
 *
 * 'unprocessable' (422), because the request is sound and what is stored keeps it from being processed (choices,
 * section 2). None of 5xx fits: clients and proxies repeat those, and 503 asks them to, while nothing changes until
 * somebody restores the row. Nor does 404 or 410: the value may come back, and must not be forgotten meanwhile.
 */
export function damaged(what: string): DomainError {
  return new DomainError(
    'unprocessable',
    `What is stored of ${what} is damaged and was refused; an operator is to restore it from a backup.`,
  );
}

/** What the log says in the place of an entry about something that was asked for, and refused as damaged. */
export function refusedAsDamaged(entry: LogEntry): LogEntry {
  return { ...entry, message: `refused as damaged: ${entry.message}` };
}
