import type { Queryable } from '../../src/data/database.ts';

/** What requests change; not what the program itself keeps on changing beside them. */
const TABLES = [
  'tenants',
  'applications',
  'application_keys',
  'tokens',
  'token_cvcs',
  'token_search_hashes',
  'reactors',
  'sessions',
  'idempotent_answers',
  'logs',
];

/** A digest of every row of each table, by which any change shows. */
export async function tableContents(queryable: Queryable): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const table of TABLES) {
    const text = `
      select count(*) || ' rows ' || md5(coalesce(string_agg(t::text, '/' order by t::text), '')) as digest
      from ${table} t`;
    const [row] = await queryable.run<{ digest: string }>({ text });
    contents[table] = row!.digest;
  }
  return contents;
}
