import { recordRotation } from '../../data/master-keys.ts';
import { deactivateDataKeys } from '../../data/wrapped-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import { inTurn, type KeyRotationParts } from './parts.ts';

export interface RotateOptions {
  /** A master key whose current version is younger stays; in ms. */
  readonly ifOlderThanMs?: number | undefined;
  /** Whether every tenant's data key is replaced too, for what is sealed from then on. */
  readonly dataKeys?: boolean;
}

export interface RotateResult {
  /** The current version of the master key. */
  readonly version: number;
  /** False where the one there was is young enough. */
  readonly rotated: boolean;
  /** Keys under which nothing new is sealed, once no process has them in memory as active: 5 minutes later at most. */
  readonly deactivatedDataKeys: number;
}

const BATCH = 1_000;

/**
 * Makes a new version of the master key of tokens, under which data keys are wrapped from now on. Those there are go on
 * unwrapping. Throws as `inTurn` does, and a DomainError 'unavailable' where Postgres or key management cannot be
 * reached.
 */
export async function rotate(
  parts: KeyRotationParts & { readonly clock: Clock },
  { ifOlderThanMs = 0, dataKeys = false }: RotateOptions = {},
): Promise<RotateResult> {
  return inTurn(parts, async () => {
    const { database, management, clock } = parts;
    const { current, currentSince } = await management.versions('tokens');
    const startedAt = new Date(clock.now());
    if (startedAt.getTime() - currentSince.getTime() < ifOlderThanMs) {
      return { version: current, rotated: false, deactivatedDataKeys: 0 };
    }
    await management.rotate('tokens');
    const { current: version } = await management.versions('tokens');
    await recordRotation(database, { management: management.name, master: 'tokens' }, version);
    let deactivatedDataKeys = 0;
    for (let last = dataKeys ? BATCH : 0; last === BATCH; deactivatedDataKeys += last) {
      // Not those that live traffic has made in their place.
      last = await deactivateDataKeys(database, { madeBefore: startedAt, limit: BATCH });
    }
    return { version, rotated: true, deactivatedDataKeys };
  });
}
