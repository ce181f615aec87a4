import type { Queryable, Statement } from './database.ts';
import type { MasterKeyName } from './master-keys.ts';
import { runForCount } from './row-counts.ts';

/** A data key as it is wrapped now. */
export interface WrappedKey {
  readonly tenantId: string;
  /** UUID. */
  readonly id: string;
  readonly wrapped: string;
}

/** Where a list of wrapped keys goes on: after this key. */
export type WrappedKeyPosition = Pick<WrappedKey, 'tenantId' | 'id'>;

const START: WrappedKeyPosition = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

const COUNT_BELOW: Statement = {
  text: `
    select count(*)::integer as count from data_keys where management = $1 and master = $2 and master_version < $3`,
};

/** Data keys that are wrapped under a version below `version`. */
export async function countWrappedBelow(queryable: Queryable, of: MasterKeyName, version: number): Promise<number> {
  return runForCount(queryable, COUNT_BELOW, [of.management, of.master, version]);
}

const LIST_BELOW: Statement = {
  text: `
    select tenant_id as "tenantId", data_key_id as id, wrapped from data_keys
    where management = $1 and master = $2 and master_version < $3 and (tenant_id, data_key_id) > ($4, $5)
    order by tenant_id, data_key_id
    limit $6`,
};

/** Data keys that are wrapped under a version below `version`, in the order of tenant and id. */
export async function listWrappedBelow(
  queryable: Queryable,
  of: MasterKeyName & { readonly version: number },
  { after = START, limit }: { after?: WrappedKeyPosition | undefined; limit: number },
): Promise<WrappedKey[]> {
  return queryable.run<WrappedKey>(LIST_BELOW, [
    ...[of.management, of.master, of.version],
    ...[after.tenantId, after.id, limit],
  ]);
}

const REPLACE: Statement = {
  text: `
    with replaced as (
      update data_keys set wrapped = given.replacement
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
        as given (tenant_id, data_key_id, wrapped, replacement)
      where data_keys.tenant_id = given.tenant_id and data_keys.data_key_id = given.data_key_id
        and data_keys.wrapped = given.wrapped
      returning 1
    )
    select count(*)::integer as count from replaced`,
};

/** Replaces the wrapped form of each key that still has the one given; gives how many had. */
export async function replaceWrapped(
  queryable: Queryable,
  keys: readonly (WrappedKey & { readonly replacement: string })[],
): Promise<number> {
  return runForCount(queryable, REPLACE, [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ id }) => id),
    keys.map(({ wrapped }) => wrapped),
    keys.map(({ replacement }) => replacement),
  ]);
}

const DEACTIVATE: Statement = {
  text: `
    with chosen as (
      select tenant_id, data_key_id from data_keys
      where purpose = 'data' and active and created_at < $1
      limit $2
      for update skip locked
    ), deactivated as (
      update data_keys set active = false
      from chosen
      where data_keys.tenant_id = chosen.tenant_id and data_keys.data_key_id = chosen.data_key_id
      returning 1
    )
    select count(*)::integer as count from deactivated`,
};

/**
 * Ends the time of at most `limit` keys that values are sealed under and that were made before `madeBefore`; gives how
 * many. What they sealed still opens.
 */
export async function deactivateDataKeys(
  queryable: Queryable,
  { madeBefore, limit }: { madeBefore: Date; limit: number },
): Promise<number> {
  return runForCount(queryable, DEACTIVATE, [madeBefore, limit]);
}

const LIVING: Statement = {
  text: `
    select min(master_version) as "oldestVersion",
      extract(epoch from now() - min(created_at) filter (where master_version = $2))::float8 as "usedForSeconds",
      max(extract(epoch from destroy_at - created_at))::float8 as "longestLifeSeconds"
    from data_keys where management = $1 and master = 'cvc' and master_version <= $2`,
};

/** What keys of card verification codes still exist, as far as they are wrapped under versions that there are. */
export interface LivingCvcKeys {
  /** Of the versions that they are wrapped under; null where there is none. */
  oldestVersion: number | null;
  /** Since the first of those that are wrapped under the version asked for was made; null where there is none. */
  usedForSeconds: number | null;
  /** From its making to its destruction; null where there is none. */
  longestLifeSeconds: number | null;
}

/** `version` is the newest that was ever used: those of any above it are left out. */
export async function findLivingCvcKeys(
  queryable: Queryable,
  management: string,
  version: number,
): Promise<LivingCvcKeys> {
  const [living] = await queryable.run<LivingCvcKeys>(LIVING, [management, version]);
  return living!;
}
