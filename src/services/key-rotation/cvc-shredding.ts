import { correctUse, findMasterKey, raiseFence, recordRetirement, recordRotation } from '../../data/master-keys.ts';
import type { MasterKeyName, MasterKeyRecord } from '../../data/master-keys.ts';
import { findLivingCvcKeys, type LivingCvcKeys } from '../../data/wrapped-keys.ts';
import { cvcBucketSeconds } from '../../keys/replacement.ts';
import type { KeyRotationParts } from './parts.ts';

/** The name of the turn to do so, another than that to change other keys: a long rewrap delays nothing here. */
export const CVC_KEYS_TURN = 'keys of codes';

interface CvcKeys {
  readonly record: MasterKeyRecord;
  readonly living: LivingCvcKeys;
}

/**
 * Rotates the master key of card verification codes and destroys its versions with the last data key under each, so
 * that no backup gives a code back: destroyed data keys stand in old base backups and WAL, but nothing unwraps them.
 *
 * With R the longest retention of any tenant that keeps codes, a code is gone for good, whoever holds which backup of
 * the database, at most 1.5 R + 3 minutes after it was sealed (R + 5 minutes, where R is under 4 minutes), while a
 * replica runs and key management answers: R / 4 for which a version serves, R / 4 for which the last data key under it
 * does, R for which that one opens, a minute for clocks that differ, and two sweeps. Backups of key management itself
 * must not be kept for longer. At most about 7 versions exist at a time, however many retentions there are.
 *
 * Gives how many versions were destroyed. While no codes are sealed, key management is not asked for anything. Of
 * several processes that run it at once, one does the work.
 */
export async function shredCvcKeys(parts: KeyRotationParts): Promise<number> {
  const of: MasterKeyName = { management: parts.management.name, master: 'cvc' };
  const before = await look(parts, of);
  if (!isUseUnproven(before.record) && !isRotationDue(before) && !isRetirementDue(before)) return 0;
  const turn = await parts.takeTurn();
  if (turn === undefined) return 0;
  try {
    await boundUse(parts, of);
    if (isRotationDue(await look(parts, of))) await rotate(parts, of);
    const now = await look(parts, of);
    return isRetirementDue(now) ? await retire(parts, of, now) : 0;
  } finally {
    await turn.release();
  }
}

async function look({ database, management }: KeyRotationParts, of: MasterKeyName): Promise<CvcKeys> {
  const record = await findMasterKey(database, of);
  return { record, living: await findLivingCvcKeys(database, management.name, record.usedVersion) };
}

/** Whether a data key claims a version that no rotation is known to have made. */
function isUseUnproven({ usedVersion, currentVersion }: MasterKeyRecord): boolean {
  return usedVersion > currentVersion;
}

/** Believes no version that key management does not have: it would never be followed by a newer one. */
async function boundUse({ database, management }: KeyRotationParts, of: MasterKeyName): Promise<void> {
  const record = await findMasterKey(database, of);
  if (!isUseUnproven(record)) return;
  const { current } = await management.versions('cvc');
  const used = record.usedVersion;
  if (used > current) await correctUse(database, of, { used, current });
  else await recordRotation(database, of, current);
}

/** Whether the version that wrapped the newest keys has served its time, and none has been made after it. */
function isRotationDue({ record, living }: CvcKeys): boolean {
  const { usedVersion, currentVersion, retiredBelow } = record;
  if (currentVersion > usedVersion || usedVersion < retiredBelow) return false;
  const { usedForSeconds, longestLifeSeconds } = living;
  return usedForSeconds === null || usedForSeconds >= cvcBucketSeconds(longestLifeSeconds!);
}

/** The oldest version that still has something to unwrap, or may yet. */
function oldestNeeded({ record, living }: CvcKeys): number {
  return living.oldestVersion ?? Math.max(record.usedVersion, record.currentVersion);
}

function isRetirementDue(keys: CvcKeys): boolean {
  return oldestNeeded(keys) > keys.record.retiredBelow;
}

async function rotate({ database, management }: KeyRotationParts, of: MasterKeyName): Promise<void> {
  const { usedVersion } = await findMasterKey(database, of);
  // A process that was ended here has rotated, and not recorded it.
  if ((await management.versions('cvc')).current <= usedVersion) await management.rotate('cvc');
  await recordRotation(database, of, (await management.versions('cvc')).current);
}

async function retire(parts: KeyRotationParts, of: MasterKeyName, keys: CvcKeys): Promise<number> {
  const { database, management } = parts;
  const fence = oldestNeeded(keys);
  await raiseFence(database, of, fence);
  // What was committed just before the fence keeps its version.
  const oldest = Math.min(fence, oldestNeeded(await look(parts, of)));
  if (oldest <= keys.record.retiredBelow) return 0;
  await management.retire('cvc', oldest);
  await recordRetirement(database, of, oldest);
  return oldest - keys.record.retiredBelow;
}
