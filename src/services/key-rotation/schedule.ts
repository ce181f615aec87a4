import { DomainError } from '../../domain/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { KeyRotationParts } from './parts.ts';
import { rewrap } from './rewrap.ts';
import { rotate } from './rotate.ts';

export interface ScheduledRotation {
  start(): void;
  stop(): Promise<void>;
}

export interface ScheduledRotationOptions extends KeyRotationParts {
  /** A master key is rotated once its current version is older, in ms. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly checkIntervalMs?: number;
}

const CHECK_INTERVAL_MS = 3600_000;

/**
 * Rotates the master key of tokens by its age, and rewraps the data keys. Older versions stay: older backups of the
 * database need them, so destroying them is for an operator to decide. A rewrap that was interrupted goes on with the
 * next check.
 */
export function createScheduledRotation(options: ScheduledRotationOptions): ScheduledRotation {
  const { maxAgeMs, logger, checkIntervalMs = CHECK_INTERVAL_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  let isWarned = false;

  async function check(): Promise<void> {
    try {
      const { rotated, version } = await rotate(options, { ifOlderThanMs: maxAgeMs });
      if (rotated) logger.info({ version }, 'Master key rotated');
      const { replaced, broken } = await rewrap(options, { signal: stopping.signal });
      if (replaced > 0) logger.info({ version, dataKeys: replaced }, 'Data keys rewrapped');
      if (broken.length > 0)
        logger.warn({ dataKeys: broken.length }, 'Data keys do not unwrap: see tokenkeep keys status');
      isWarned = false;
    } catch (error) {
      const isBusy = error instanceof DomainError && error.kind === 'conflict';
      if (isBusy || stopping.signal.aborted) return;
      // Once: what an operator must grant is no news an hour later.
      if (!isWarned) logger.warn({ error }, 'Scheduled key rotation failed; it is tried again every hour');
      isWarned = true;
    }
  }

  function loop(): void {
    running = check().then(() => {
      if (!stopping.signal.aborted) timer = setTimeout(loop, checkIntervalMs).unref();
    });
  }

  return {
    start: loop,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
