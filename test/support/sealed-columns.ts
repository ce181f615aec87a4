import type { Queryable } from '../../src/data/database.ts';

/** A column that holds sealed values, and the one that names its rows beside the tenant. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly rowKey: string;
}

/** Every sealed column of the schema that callers read. */
export const SEALED_COLUMNS = {
  data: { table: 'tokens', column: 'data', rowKey: 'token_id' },
  mask: { table: 'tokens', column: 'mask', rowKey: 'token_id' },
  cvc: { table: 'token_cvcs', column: 'cvc', rowKey: 'token_id' },
  code: { table: 'reactors', column: 'code', rowKey: 'reactor_id' },
  configuration: { table: 'reactors', column: 'configuration', rowKey: 'reactor_id' },
  answer: { table: 'idempotent_answers', column: 'answer', rowKey: 'claim' },
  secret: { table: 'webhook_secrets', column: 'secret', rowKey: 'secret_id' },
} as const satisfies Record<string, SealedColumn>;

export type SealedColumnName = keyof typeof SEALED_COLUMNS;

/** Sealed columns of asynchronous invocations, which workers open. */
export const INVOCATION_COLUMNS = ['args', 'callback_url', 'result'] as const;

/** Columns of bytes that are not sealed: hashes, which open to nothing. */
export const UNSEALED_COLUMNS: readonly string[] = [
  'application_keys.digest',
  'idempotent_answers.key_hash',
  'log_heads.hash',
  'log_links.digests',
  'log_links.hash',
  'log_links.previous',
  'sessions.key_digest',
  'sessions.nonce_digest',
  'token_search_hashes.hash',
  'tokens.fingerprint',
];

/** `table.column` of everything that holds bytes, partitions left out. */
export async function columnsOfBytes(queryable: Queryable): Promise<string[]> {
  const rows = await queryable.run<{ name: string }>({
    text: `
      select c.relname || '.' || a.attname as name
      from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and a.atttypid in ('bytea'::regtype, 'bytea[]'::regtype)
      order by 1`,
  });
  return rows.map(({ name }) => name);
}

/** The stored bytes of one row, and what puts others there. */
export async function readSealed(
  queryable: Queryable,
  { table, column, rowKey }: SealedColumn,
  tenantId: string,
  id: string,
): Promise<Buffer> {
  const text = `select ${column} as sealed from ${table} where tenant_id = $1 and ${rowKey}::text = $2`;
  const [row] = await queryable.run<{ sealed: Buffer }>({ text }, [tenantId, id]);
  return row!.sealed;
}

export async function writeSealed(
  queryable: Queryable,
  { table, column, rowKey }: SealedColumn,
  { tenantId, id, sealed }: { tenantId: string; id: string; sealed: Buffer },
): Promise<void> {
  const text = `update ${table} set ${column} = $3 where tenant_id = $1 and ${rowKey}::text = $2`;
  await queryable.run({ text }, [tenantId, id, sealed]);
}

/** First bytes of an envelope: format, data key id and nonce. */
export const HEADER_BYTES = 29;

const TAG_BYTES = 16;

/** Every bit of the header, and every byte behind it; or each byte of header and tag, and of the rest some. */
export type Thoroughness = 'every byte' | 'some bytes';

const SOME = 8;

function isTried(at: number, length: number, thoroughness: Thoroughness): boolean {
  return thoroughness === 'every byte' || at < HEADER_BYTES || at >= length - TAG_BYTES || at % SOME === 0;
}

/** Ways to change, shorten and lengthen an envelope, and what they are called. */
export function* alterations(
  sealed: Buffer,
  thoroughness: Thoroughness,
): Generator<readonly [name: string, altered: Buffer]> {
  for (let at = 0; at < sealed.length; at++) {
    if (!isTried(at, sealed.length, thoroughness)) continue;
    for (let bit = 0; bit < 8; bit++) {
      // One bit in each byte, which one by its place.
      if ((at >= HEADER_BYTES || thoroughness !== 'every byte') && bit !== at % 8) continue;
      const altered = Buffer.from(sealed);
      altered[at]! ^= 1 << bit;
      yield [`bit ${bit} of byte ${at} flipped`, altered];
    }
    yield [`cut to ${at} bytes`, sealed.subarray(0, at)];
  }
  for (const added of [1, 12, 16, 1_000]) {
    yield [`${added} bytes appended`, Buffer.concat([sealed, Buffer.alloc(added)])];
    yield [`${added} bytes put before`, Buffer.concat([Buffer.alloc(added), sealed])];
  }
  yield ['appended to itself', Buffer.concat([sealed, sealed])];
  yield ['all zeros', Buffer.alloc(sealed.length)];
}
