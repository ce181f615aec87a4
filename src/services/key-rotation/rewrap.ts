import { raiseFence, recordRetirement } from '../../data/master-keys.ts';
import { countWrappedBelow } from '../../data/wrapped-keys.ts';
import { DomainError } from '../../domain/errors.ts';
import { inTurn, type KeyRotationParts, type OnProgress } from './parts.ts';
import { rewrapInBatches, type Rewrapped } from './wrapped-key-batches.ts';

export interface RewrapResult extends Rewrapped {
  /** The version that they are wrapped under now. */
  readonly current: number;
}

/**
 * Wraps every data key that is not under the current version of the master key under that one; those of card
 * verification codes stay as they are, and are destroyed. The data keys themselves never leave key management. The
 * signal ends it after the batch under way. Throws as `inTurn` does, and a DomainError 'unavailable' where Postgres or
 * key management cannot be reached.
 */
export async function rewrap(
  parts: KeyRotationParts,
  { onProgress, signal }: { onProgress?: OnProgress; signal?: AbortSignal } = {},
): Promise<RewrapResult> {
  return inTurn(parts, (lost) => {
    return rewrapAll(parts, signal === undefined ? lost : AbortSignal.any([lost, signal]), onProgress);
  });
}

/**
 * As `rewrap`, and then destroys all versions below the current one, for good: older backups of the database hold data
 * keys that no longer unwrap. Ended between any two steps it has lost nothing, and another run goes on. Throws a
 * DomainError 'conflict', with nothing destroyed, where data keys are left that cannot be rewrapped.
 */
export async function rewrapAndRetire(
  parts: KeyRotationParts,
  { onProgress }: { onProgress?: OnProgress } = {},
): Promise<RewrapResult> {
  return inTurn(parts, async (lost) => {
    const { database, management } = parts;
    const of = { management: management.name, master: 'tokens' } as const;
    const { current } = await management.versions('tokens');
    // From here on no process can commit a data key under a version that is about to go.
    await raiseFence(database, of, current);
    const result = await rewrapAll(parts, lost, onProgress);
    const left = await countWrappedBelow(database, of, current);
    if (left > 0) {
      const [first] = result.broken;
      const example = first === undefined ? '' : `, such as ${first.id} of tenant ${first.tenantId}`;
      throw new DomainError(
        'conflict',
        `${left} data keys cannot be rewrapped${example}: restore these rows from a backup, or delete them with what ` +
          'they sealed; no version was retired',
      );
    }
    await management.retire('tokens', current);
    await recordRetirement(database, of, current);
    return result;
  });
}

async function rewrapAll(
  { database, management }: KeyRotationParts,
  signal: AbortSignal,
  onProgress: OnProgress | undefined,
): Promise<RewrapResult> {
  const { current } = await management.versions('tokens');
  const rewrapped = await rewrapInBatches({
    database,
    of: { management: management.name, master: 'tokens', version: current },
    rewrap: ({ tenantId, wrapped }) => management.rewrapDataKey('tokens', tenantId, wrapped),
    ...{ signal, onProgress },
  });
  return { ...rewrapped, current };
}
