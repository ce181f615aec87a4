import { tryAdvisoryLock } from '../data/advisory-lock.ts';
import type { Database } from '../data/database.ts';
import type { KeyManagement } from '../keys/key-management.ts';
import { systemClock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { ShutdownStack } from '../platform/shutdown.ts';
import { KEYS_TURN } from '../services/key-rotation/parts.ts';
import { createScheduledRotation } from '../services/key-rotation/schedule.ts';

export interface KeyRotationOptions {
  /** In ms: a master key of tokens that is older is rotated. */
  readonly maxAgeMs: number | 'off';
  /** Of the sweeper: for work across tenants. */
  readonly maintenance: Database;
  /** May hold a password. */
  readonly connectionString: string;
  readonly keyManagement: KeyManagement;
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
}

/** Rotates the master key of tokens by age, in turn with the other processes over the same database. */
export function startKeyRotation(options: KeyRotationOptions): void {
  const { maxAgeMs, maintenance, connectionString, keyManagement, logger, shutdown } = options;
  if (maxAgeMs === 'off') return;
  const rotation = createScheduledRotation({
    ...{ database: maintenance, management: keyManagement, clock: systemClock, logger, maxAgeMs },
    takeTurn: () => tryAdvisoryLock(connectionString, KEYS_TURN),
  });
  rotation.start();
  shutdown.push('key rotation', () => rotation.stop());
}
