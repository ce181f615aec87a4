import type { DataKeyStore, StoredDataKey } from '../domain/data-keys.ts';
import type { Queryable, Statement } from './database.ts';
import { breaksConstraint, CHECK_VIOLATION } from './failures.ts';

/** A row of data_keys as a `StoredDataKey`. */
export const DATA_KEY_COLUMNS = `
  tenant_id as "tenantId", data_key_id as "id", purpose, wrapped, created_at as "createdAt", uses::float8 as "uses",
  destroy_at as "destroyAt"`;

const FIND_ACTIVE: Statement = {
  name: 'find-active-data-key',
  text: `select ${DATA_KEY_COLUMNS} from data_keys where tenant_id = $1 and purpose = $2 and active`,
};

const FIND: Statement = {
  name: 'find-data-key',
  text: `select ${DATA_KEY_COLUMNS} from data_keys where tenant_id = $1 and data_key_id = $2`,
};

// The insert reads from `retired`, so that the old key is retired before the index of active keys is checked. Whoever
// comes second finds nothing to retire and an active key in the way.
const ACTIVATE: Statement = {
  name: 'activate-data-key',
  text: `
    with retired as (
      update data_keys set active = false
      where tenant_id = $1 and data_key_id = $8::uuid and active
      returning data_key_id
    )
    insert into data_keys (tenant_id, data_key_id, purpose, wrapped, active, uses, created_at, destroy_at)
    select $1, $2, $3, $4, true, $5, $6, $7
    from (select count(*) from retired) as ordered
    on conflict (tenant_id, purpose) where active do nothing
    returning data_key_id`,
};

const FENCE = 'data_keys_fence';

const RESERVE_USES: Statement = {
  name: 'reserve-data-key-uses',
  text: `
    update data_keys set uses = uses + $3
    where tenant_id = $1 and data_key_id = $2 and active and uses + $3 <= $4
    returning data_key_id`,
};

export function createDataKeyStore(queryable: Queryable): DataKeyStore {
  return {
    async findActive(tenantId, purpose) {
      const [key] = await queryable.run<StoredDataKey>(FIND_ACTIVE, [tenantId, purpose]);
      return key;
    },
    async find(tenantId, id) {
      const [key] = await queryable.run<StoredDataKey>(FIND, [tenantId, id]);
      return key;
    },
    async activate(key, replaces) {
      const { tenantId, id, purpose, wrapped, uses, createdAt, destroyAt } = key;
      const values = [tenantId, id, purpose, wrapped, uses, createdAt, destroyAt, replaces ?? null];
      try {
        return (await queryable.run(ACTIVATE, values)).length > 0 ? 'activated' : 'taken';
      } catch (error) {
        if (breaksConstraint(error, CHECK_VIOLATION, FENCE)) return 'retired';
        throw error;
      }
    },
    async reserveUses(tenantId, id, count, limit) {
      return (await queryable.run(RESERVE_USES, [tenantId, id, count, limit])).length > 0;
    },
  };
}

const DESTROY_DUE: Statement = {
  text: 'delete from data_keys where destroy_at <= now() returning tenant_id as "tenantId", data_key_id as "id"',
};

/** Destroys the keys whose time has come, by the database's clock. */
export async function destroyDueDataKeys(queryable: Queryable): Promise<{ tenantId: string; id: string }[]> {
  return queryable.run(DESTROY_DUE);
}
