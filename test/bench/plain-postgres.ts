import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';

/** The same rows in the same tables, by prepared statements and without us. */
export interface PlainPostgres {
  /** Inserts tokens, each with its log entry; gives their ids. */
  insert(count: number): Promise<string[]>;
  /** Selects whole rows that `insert` made; throws where one is missing. */
  select(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const INSERT = `
  with created as (
    insert into tokens (tenant_id, token_id, type, container, data, mask, metadata, fingerprint,
      fingerprint_expression, created_by, created_at)
    select $1, r.id, 'card', '/pci/high/', r.data, r.mask, '{}', r.fingerprint, '{{ data.number }}', $1, now()
    from unnest($2::text[], $3::bytea[], $4::bytea[], $5::bytea[]) as r (id, data, mask, fingerprint)
    returning token_id
  )
  insert into logs (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
  select $1, now(), gen_random_uuid(), $1, 'application', 'card', token_id, 'create', 'card created' from created`;

// As the vault looks several up, so that both have the same plan.
const SELECT = `
  select t.* from unnest($2::text[]) as wanted (id)
  cross join lateral (select * from tokens where tenant_id = $1 and token_id = wanted.id limit 1) t`;

const LENGTHS = 'select octet_length(data) as data, octet_length(mask) as mask from tokens limit 1';

// Rows of no tenant would be swept.
const TENANT = `
  insert into tenants (tenant_id, name, type, quotas, settings, declared)
  select $1::uuid, $1::text, type, quotas, settings, false from tenants limit 1`;

/** Takes the sizes of the sealed columns from a token that the vault has stored, so there must be one. */
export async function connectPlainPostgres(connectionString: string, connections: number): Promise<PlainPostgres> {
  const pool = new pg.Pool({ connectionString, max: connections });
  const { rows } = await pool.query<{ data: number; mask: number }>(LENGTHS);
  const lengths = rows[0]!;
  const tenantId = randomUUID();
  await pool.query(TENANT, [tenantId]);
  return {
    async insert(count) {
      const ids = Array.from({ length: count }, () => randomUUID());
      const column = (bytes: number): Buffer[] => ids.map(() => randomBytes(bytes));
      const values = [tenantId, ids, column(lengths.data), column(lengths.mask), column(32)];
      await pool.query({ name: 'bench-insert', text: INSERT, values });
      return ids;
    },
    async select(ids) {
      const { rowCount } = await pool.query({ name: 'bench-select', text: SELECT, values: [tenantId, ids] });
      if (rowCount !== ids.length) throw new Error(`${rowCount} of ${ids.length} rows found`);
    },
    close: () => pool.end(),
  };
}
