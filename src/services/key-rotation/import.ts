import { raiseFence } from '../../data/master-keys.ts';
import { countWrappedBelow, type WrappedKey } from '../../data/wrapped-keys.ts';
import { DomainError } from '../../domain/errors.ts';
import type { KeyManagement, MasterKey } from '../../keys/key-management.ts';
import { inTurn, type KeyRotationParts, type OnProgress } from './parts.ts';
import { rewrapInBatches } from './wrapped-key-batches.ts';

export interface ImportOptions extends Pick<KeyRotationParts, 'database' | 'takeTurn'> {
  /** What has wrapped the data keys until now. */
  readonly from: KeyManagement;
  /** What is to wrap them. */
  readonly to: KeyManagement;
  readonly onProgress?: OnProgress | undefined;
}

const MASTER_KEYS = ['tokens', 'cvc'] as const satisfies MasterKey[];
/** Above every version that there can be. */
const CLOSED = 2_000_000_000;

/**
 * Moves every data key from one key management to another; gives how many. No token is touched: they are sealed under
 * the same data keys as before. Each is unwrapped by the new one before its row is written, and a run that was ended is
 * gone on with by the next one. From the start, no data key that the old one wraps can be stored any more.
 *
 * Throws as `inTurn` does, a DomainError 'unavailable' where anything cannot be reached, and one of 'conflict' where
 * data keys are left that the old one does not unwrap.
 */
export async function importDataKeys(options: ImportOptions): Promise<number> {
  const { database, from, to, onProgress } = options;
  return inTurn(options, async (signal) => {
    // What could not be used afterwards is found out before anything is moved there.
    await to.ping();
    for (const master of MASTER_KEYS) await raiseFence(database, { management: from.name, master }, CLOSED);
    let moved = 0;
    for (const master of MASTER_KEYS) {
      const of = { management: from.name, master, version: CLOSED };
      const rewrap = (key: WrappedKey): Promise<string> => move(key, master, options);
      const { replaced } = await rewrapInBatches({ database, of, rewrap, signal, onProgress });
      moved += replaced;
      const left = await countWrappedBelow(database, of, CLOSED);
      if (left > 0) {
        throw new DomainError(
          'conflict',
          `${left} data keys do not unwrap under the ${from.name}: restore these rows from a backup, or delete them with ` +
            'what they sealed, and run it again',
        );
      }
    }
    return moved;
  });
}

async function move(
  { tenantId, wrapped }: WrappedKey,
  master: MasterKey,
  { from, to }: ImportOptions,
): Promise<string> {
  const plaintext = await from.unwrapDataKey(master, tenantId, wrapped);
  try {
    const replacement = await to.wrapDataKey(master, tenantId, plaintext);
    const again = await to.unwrapDataKey(master, tenantId, replacement);
    const isSame = again.equals(plaintext);
    again.fill(0);
    if (!isSame) throw new DomainError('unavailable', `${to.name} gives another data key back than it was given`);
    return replacement;
  } finally {
    plaintext.fill(0);
  }
}
