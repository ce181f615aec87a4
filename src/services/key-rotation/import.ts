import { randomBytes } from 'node:crypto';
import { ABOVE_ALL_VERSIONS, findMasterKey, raiseFence, reopenFence } from '../../data/master-keys.ts';
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
/** Stands for a tenant where a key of nothing is wrapped. No tenant's id is such a text. */
const TRIAL = 'tokenkeep trial';

/**
 * Moves every data key from one key management to another; gives how many. No token is touched: they are sealed under
 * the same data keys as before. Each is unwrapped by the new one before its row is written, and a run that was ended is
 * gone on with by the next one. While it runs, and once anything was moved, no data key that the old one wraps can be
 * stored any more.
 *
 * Throws as `inTurn` does, a DomainError 'unavailable' where anything cannot be reached, and one of 'conflict' where
 * data keys are left that the old one does not unwrap.
 */
export async function importDataKeys(options: ImportOptions): Promise<number> {
  const { database, from, to } = options;
  return inTurn(options, async (lost) => {
    const reopen = await planReopening(options);
    try {
      // What could not be used afterwards is found out before anything is moved there.
      await to.ping();
      for (const master of MASTER_KEYS) await tryOut(to, master);
      for (const master of MASTER_KEYS) {
        await raiseFence(database, { management: from.name, master }, ABOVE_ALL_VERSIONS);
      }
      let moved = 0;
      for (const master of MASTER_KEYS) moved += await moveAll(master, options, lost);
      return moved;
    } finally {
      // Where the turn is lost, another process may be at it. The status of keys tells where this itself fails.
      if (!lost.aborted) await reopen().catch(() => undefined);
    }
  });
}

/** Gives what makes the old key management as usable as it was, where nothing has been moved. */
async function planReopening({ database, from }: ImportOptions): Promise<() => Promise<void>> {
  const fences: { master: MasterKey; oldest: number }[] = [];
  for (const master of MASTER_KEYS) {
    const { oldestVersion } = await findMasterKey(database, { management: from.name, master });
    // Where an earlier run was killed, what the fence was before that is not known any more.
    const oldest = oldestVersion < ABOVE_ALL_VERSIONS ? oldestVersion : (await from.versions(master)).oldest;
    fences.push({ master, oldest });
  }
  return async () => {
    for (const { master, oldest } of fences) await reopenFence(database, { management: from.name, master }, oldest);
  };
}

async function tryOut(to: KeyManagement, master: MasterKey): Promise<void> {
  await wrapProven(to, master, TRIAL, randomBytes(32));
}

/** Moves what is wrapped under one master key; gives how many. */
async function moveAll(
  master: MasterKey,
  { database, from, to, onProgress }: ImportOptions,
  signal: AbortSignal,
): Promise<number> {
  const of = { management: from.name, master, version: ABOVE_ALL_VERSIONS };
  const { replaced } = await rewrapInBatches({
    ...{ database, of, signal, onProgress },
    rewrap: (key) => move(key, master, { from, to }),
  });
  const left = await countWrappedBelow(database, of, ABOVE_ALL_VERSIONS);
  if (left > 0) {
    throw new DomainError(
      'conflict',
      `${left} data keys do not unwrap under the ${from.name}: restore these rows from a backup, or delete them ` +
        'with what they sealed, and run it again',
    );
  }
  return replaced;
}

async function move(
  { tenantId, wrapped }: WrappedKey,
  master: MasterKey,
  { from, to }: Pick<ImportOptions, 'from' | 'to'>,
): Promise<string> {
  const plaintext = await from.unwrapDataKey(master, tenantId, wrapped);
  try {
    return await wrapProven(to, master, tenantId, plaintext);
  } finally {
    plaintext.fill(0);
  }
}

/** Gives no wrapped form that does not unwrap. */
async function wrapProven(to: KeyManagement, master: MasterKey, tenantId: string, plaintext: Buffer): Promise<string> {
  const wrapped = await to.wrapDataKey(master, tenantId, plaintext);
  const again = await to.unwrapDataKey(master, tenantId, wrapped);
  const isSame = again.equals(plaintext);
  again.fill(0);
  if (!isSame) throw new DomainError('unavailable', `${to.name} gives another data key back than it was given`);
  return wrapped;
}
