import type { Database } from '../../../src/data/database.ts';

/** The tenant whose lists are measured, and one beside it. */
export const TENANT = '11111111-1111-4111-8111-111111111111';
const APPLICATION = '22222222-2222-4222-8222-222222222222';

// Cards mostly, as in a shop: a twentieth expires some day, a third can be searched, a thousandth stores a value twice.
// What seals them is random: a token that is to be read is sealed before (see seal.ts).
const TOKENS = `
  with made as (
    insert into tokens (tenant_id, token_id, type, container, data, mask, metadata, metadata_folded, search_indexes,
      fingerprint, fingerprint_expression, expires_at, created_by, created_at)
    select $1::uuid,
      case when i % 100 = 3 then 'order-' || i else md5(i::text)::uuid::text end,
      case when i % 1000 = 7 then 'employer_id_number' when i % 20 = 5 then 'bank' when i % 5 = 2 then 'token'
        else 'card' end,
      case when i <= 40 then '/rare/' when i % 20 = 5 then '/bank/high/' when i % 5 = 2 then '/general/high/'
        when i % 10 = 1 then '/pci/high/eu/' else '/pci/high/' end,
      sha512(i::text::bytea) || sha224(i::text::bytea), sha512(i::text::bytea) || sha512((-i)::text::bytea),
      m.metadata, m.metadata, null,
      sha256((case when i % 1000 = 9 then i - 1 else i end)::text::bytea), '{{ data.number }}',
      case when i % 20 = 11 then now() + interval '30 days' end, $2::uuid,
      timestamptz '2026-01-01' + i * interval '1 second'
    from generate_series($3::integer, $4::integer) as i,
      lateral (select jsonb_build_object(
        'channel', case when i % 2 = 0 then 'web' else 'app' end, 'customer', (i / 5)::text
      ) as metadata) m
    returning tenant_id, token_id
  )
  insert into token_search_hashes (tenant_id, token_id, hash)
  select tenant_id, token_id, sha256(token_id::bytea) from made where hashtext(token_id) % 3 = 0`;

// Over the last 23 hours. Nearly all of them speak of cards: what is rare must be found as fast.
const LOGS = `
  insert into logs (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
  select $1::uuid, now() - interval '23 hours' * (i::float8 / 1000000), gen_random_uuid(), $2::uuid, 'application',
    case when i % 100000 = 1 then 'application' when i % 20 = 0 then 'bank' else 'card' end,
    md5((i / 4)::text), case when i % 4 = 0 then 'create' else 'read' end, 'card read'
  from generate_series($3::integer, $4::integer) as i`;

const PAST_HOURS = `
  do $$
  declare starts timestamptz;
  begin
    for starts in
      select generate_series(date_trunc('hour', now(), 'UTC') - interval '24 hours',
        date_trunc('hour', now(), 'UTC') - interval '1 hour', interval '1 hour')
    loop
      execute format('create table %I partition of logs for values from (%L) to (%L)',
        'logs_' || to_char(starts at time zone 'UTC', 'YYYYMMDDHH24'), starts, starts + interval '1 hour');
    end loop;
  end $$`;

/** Hours of the log that have gone by have partitions, as in a vault that runs for a day. */
export async function makePastPartitions(database: Database): Promise<void> {
  await database.run({ text: PAST_HOURS });
}

/** Makes tokens and log entries from a number to another, both included. */
export async function makeRows(database: Database, from: number, to: number): Promise<void> {
  await database.run({ text: TOKENS }, [TENANT, APPLICATION, from, to]);
  await database.run({ text: LOGS }, [TENANT, APPLICATION, from, to]);
}

/** What autovacuum does sooner or later. */
export async function vacuum(database: Database): Promise<void> {
  await database.run({ text: 'vacuum (analyze)' });
}
