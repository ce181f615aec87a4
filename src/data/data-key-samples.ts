import type { StoredDataKey } from '../domain/data-keys.ts';
import type { Queryable, Statement } from './database.ts';

/** More than one, since any of them may have been altered. */
const SAMPLES = 8;

// In whatever order they lie there: a vault of many tenants has millions.
const SAMPLE: Statement = {
  name: 'sample-data-keys',
  text: `
    select tenant_id as "tenantId", data_key_id as "id", purpose, wrapped, created_at as "createdAt",
      uses::float8 as "uses", destroy_at as "destroyAt"
    from data_keys where purpose <> 'cvc' limit ${SAMPLES}`,
};

/** A few data keys of any tenants that the master key of tokens has wrapped; none where there are none. */
export async function sampleDataKeys(queryable: Queryable): Promise<StoredDataKey[]> {
  return queryable.run<StoredDataKey>(SAMPLE, []);
}
