import type { DataKeyPurpose } from '../domain/data-keys.ts';
import type { Queryable, Statement } from './database.ts';

/** Of all tenants' data keys for one purpose. */
export interface DataKeyFigures {
  readonly purpose: DataKeyPurpose;
  /** All there are, those included that only open what they once sealed. */
  readonly count: number;
  /** Of the key that has been active for longest, by the database's clock; 0 where none is. */
  readonly oldestActiveSeconds: number;
  /** Encryptions reserved under the active key that has most. */
  readonly mostUses: number;
}

const READ: Statement = {
  name: 'read-data-key-figures',
  text: `
    select purpose, count(*)::float8 as "count",
      coalesce(max(extract(epoch from now() - created_at)) filter (where active), 0)::float8 as "oldestActiveSeconds",
      coalesce(max(uses) filter (where active), 0)::float8 as "mostUses"
    from data_keys group by purpose`,
};

export async function readDataKeyFigures(queryable: Queryable): Promise<DataKeyFigures[]> {
  return queryable.run<DataKeyFigures>(READ);
}
