import type { Queryable, Statement } from './database.ts';

/** A master key of one key management. */
export interface MasterKeyName {
  /** What wrapped forms begin with: `keyring`, `vault`. */
  readonly management: string;
  readonly master: 'tokens' | 'cvc';
}

/** What the database knows of the versions of a master key. */
export interface MasterKeyRecord {
  /** The newest version that a data key was ever wrapped under, by what these say; 0 for none. */
  usedVersion: number;
  /** The newest version that a rotation is known to have made; 0 for none. */
  currentVersion: number;
  /** No data key is stored any more that is wrapped under an older version. */
  oldestVersion: number;
  /** Key management has destroyed all versions below. */
  retiredBelow: number;
}

const FIND: Statement = {
  text: `
    select used_version as "usedVersion", current_version as "currentVersion", oldest_version as "oldestVersion",
      retired_below as "retiredBelow"
    from master_keys where management = $1 and master = $2`,
};

export async function findMasterKey(queryable: Queryable, { management, master }: MasterKeyName) {
  const [record] = await queryable.run<MasterKeyRecord>(FIND, [management, master]);
  return record!;
}

const CORRECT_USE: Statement = {
  text: `
    update master_keys set used_version = $4, current_version = greatest(current_version, $4)
    where management = $1 and master = $2 and used_version = $3`,
};

/**
 * Takes back that version `used` was used, where it still says so: key management has none above `current`. A wrapped
 * form names its version itself, and whoever may store data keys can make it name any.
 */
export async function correctUse(
  queryable: Queryable,
  of: MasterKeyName,
  { used, current }: { used: number; current: number },
): Promise<void> {
  await queryable.run(CORRECT_USE, [of.management, of.master, used, current]);
}

const RECORD_ROTATION: Statement = {
  text: `
    update master_keys set current_version = greatest(current_version, $3) where management = $1 and master = $2`,
};

export async function recordRotation(queryable: Queryable, of: MasterKeyName, current: number): Promise<void> {
  await queryable.run(RECORD_ROTATION, [of.management, of.master, current]);
}

const RAISE_FENCE: Statement = {
  text: `update master_keys set oldest_version = greatest(oldest_version, $3) where management = $1 and master = $2`,
};

/**
 * From when it resolves, no data key is stored that is wrapped under a version below `oldest`, and all those that are
 * can be seen.
 */
export async function raiseFence(queryable: Queryable, of: MasterKeyName, oldest: number): Promise<void> {
  await queryable.run(RAISE_FENCE, [of.management, of.master, oldest]);
}

/** More than any version can be: a fence there lets no data key be stored at all. */
export const ABOVE_ALL_VERSIONS = 2_000_000_000;

const REOPEN_FENCE: Statement = {
  text: `
    update master_keys set oldest_version = greatest($3, retired_below)
    where management = $1 and master = $2 and oldest_version = $4
      and not exists (select from data_keys where management <> $1)`,
};

/** Puts a fence above all versions at `oldest` again, unless another key management has wrapped data keys by now. */
export async function reopenFence(queryable: Queryable, of: MasterKeyName, oldest: number): Promise<void> {
  await queryable.run(REOPEN_FENCE, [of.management, of.master, oldest, ABOVE_ALL_VERSIONS]);
}

const RECORD_RETIREMENT: Statement = {
  text: `update master_keys set retired_below = greatest(retired_below, $3) where management = $1 and master = $2`,
};

export async function recordRetirement(queryable: Queryable, of: MasterKeyName, oldest: number): Promise<void> {
  await queryable.run(RECORD_RETIREMENT, [of.management, of.master, oldest]);
}

/** Data keys that are wrapped under one version. */
export interface VersionUse extends MasterKeyName {
  version: number;
  dataKeys: number;
  /** Of those that values are sealed under now, when the first was made; null for none. */
  oldestActiveSince: Date | null;
}

const USES: Statement = {
  text: `
    select management, master, master_version as version, count(*)::integer as "dataKeys",
      min(created_at) filter (where active and purpose in ('data', 'cvc')) as "oldestActiveSince"
    from data_keys group by management, master, master_version order by management, master, master_version`,
};

export async function findVersionUses(queryable: Queryable): Promise<VersionUse[]> {
  return queryable.run<VersionUse>(USES);
}
