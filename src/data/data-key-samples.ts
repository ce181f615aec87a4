import { randomUUID } from 'node:crypto';
import type { StoredDataKey } from '../domain/data-keys.ts';
import { DATA_KEY_COLUMNS } from './data-keys.ts';
import type { Queryable, Statement } from './database.ts';

/** More than one, since any of them may have been altered, and all of one tenant. */
const SAMPLES = 8;

// From tenant to tenant along the primary key: a vault of many tenants has millions of data keys.
const SAMPLE: Statement = {
  name: 'sample-data-keys',
  text: `
    with recursive tenant (id, nth) as (
      (select tenant_id, 1 from data_keys where tenant_id > $1 and purpose <> 'cvc' order by tenant_id limit 1)
      union all
      select next.tenant_id, tenant.nth + 1
      from tenant cross join lateral (
        select tenant_id from data_keys where tenant_id > tenant.id and purpose <> 'cvc' order by tenant_id limit 1
      ) as next
      where tenant.nth < ${SAMPLES}
    )
    select ${DATA_KEY_COLUMNS}
    from tenant cross join lateral (
      select few.*, row_number() over (order by data_key_id) as turn
      from (
        select * from data_keys where tenant_id = tenant.id and purpose <> 'cvc' order by data_key_id limit ${SAMPLES}
      ) as few
    ) as key
    order by key.turn, tenant.nth
    limit ${SAMPLES}`,
};

/** Before every tenant there can be. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * A few data keys that the master key of tokens has wrapped, each of another tenant as far as there are so many, and of
 * other ones each time; none where there are none.
 */
export async function sampleDataKeys(queryable: Queryable): Promise<StoredDataKey[]> {
  const sampled = await queryable.run<StoredDataKey>(SAMPLE, [randomUUID()]);
  const firstOfTenants = firstOfEachTenant(sampled);
  if (firstOfTenants.length === SAMPLES) return firstOfTenants;
  // Few tenants come after where it began: it goes on at the other end.
  const all = [...sampled, ...(await queryable.run<StoredDataKey>(SAMPLE, [FIRST]))];
  const keys = new Map([...firstOfEachTenant(all), ...all].map((key) => [key.id, key]));
  return [...keys.values()].slice(0, SAMPLES);
}

function firstOfEachTenant(keys: readonly StoredDataKey[]): StoredDataKey[] {
  return keys.filter(({ tenantId }, at) => keys.findIndex((other) => other.tenantId === tenantId) === at);
}
