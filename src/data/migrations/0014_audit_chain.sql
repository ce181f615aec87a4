-- What the audit log's entries are chained by. Links, heads and the queue hold ids, times and hashes: nothing that was
-- logged, and nothing of a token.

-- Entries that no link holds yet, one row for each statement that wrote some.
create table log_unlinked (
  queue_id bigint generated always as identity primary key,
  queued_at timestamptz(3) not null default clock_timestamp(),
  entries integer not null,
  tenant_ids uuid[] not null,
  created_ats timestamptz(3)[] not null,
  log_ids uuid[] not null
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000);

-- One link for each batch of entries: link number `n` of the chain of one writing process and one hour. The arrays have
-- one element for each entry, in the order in which they are hashed.
create table log_links (
  hour timestamptz(3) not null,
  writer uuid not null,
  n integer not null,
  previous bytea not null,
  hash bytea not null,
  linked_at timestamptz(3) not null,
  -- Entries older than this were past every tenant's retention when the link was made.
  oldest timestamptz(3) not null,
  -- Heads of other chains, and of the writer's own before this hour, that the link holds fast.
  witnessed jsonb not null,
  tenant_ids uuid[] not null,
  created_ats timestamptz(3)[] not null,
  log_ids uuid[] not null,
  digests bytea[] not null,
  queued_ats timestamptz(3)[] not null,
  first_created_at timestamptz(3) not null,
  last_created_at timestamptz(3) not null,
  primary key (hour, writer, n)
);
-- Ids and hashes are random: to compress them takes time and saves nothing.
alter table log_links
  alter column tenant_ids set storage external,
  alter column created_ats set storage external,
  alter column log_ids set storage external,
  alter column digests set storage external,
  alter column queued_ats set storage external;
-- Which links may hold an entry of a given time.
create index log_links_span on log_links using gist (tstzrange(first_created_at, last_created_at, '[]'));

-- Ends of chains, sealed by the key management: whoever writes the tables cannot. Whoever removes these rows while no
-- process runs has the next one seal the ends as they are then; `sealed_by` is not `writer` in those. Whether they are
-- the true ends, only the lines tell in which each process wrote its heads to its log.
create table log_heads (
  hour timestamptz(3) not null,
  writer uuid not null,
  n integer not null,
  hash bytea not null,
  sealed_by uuid not null,
  anchored_at timestamptz(3) not null,
  mac text not null,
  primary key (hour, writer, n)
);
create index log_heads_anchored on log_heads (anchored_at);

-- How far the log may have been dropped, one row. What was written before there were links is in none.
create table log_horizon (
  only_row boolean primary key default true check (only_row),
  oldest timestamptz(3) not null
);
insert into log_horizon (oldest) values (clock_timestamp());

-- Tenants that were deleted: what they logged until then may be gone with them.
create table log_removed_tenants (
  tenant_id uuid primary key,
  removed_at timestamptz(3) not null
);

create function note_removed_tenant() returns trigger
language plpgsql security definer as $$
begin
  insert into log_removed_tenants (tenant_id, removed_at) values (old.tenant_id, clock_timestamp())
  on conflict (tenant_id) do update set removed_at = excluded.removed_at;
  return null;
end
$$;

create trigger tenants_removed after delete on tenants for each row execute function note_removed_tenant();

-- In the transaction that writes entries, whoever writes them: what is not queued is not committed. The owner's rights
-- let writers queue without a grant by which they could empty the queue.
create function queue_log_entries() returns trigger
language plpgsql security definer as $$
begin
  insert into log_unlinked (entries, tenant_ids, created_ats, log_ids)
  select count(*), array_agg(tenant_id), array_agg(created_at), array_agg(log_id) from written having count(*) > 0;
  return null;
end
$$;

create trigger logs_queued after insert on logs
referencing new table as written for each statement execute function queue_log_entries();

-- With the owner's rights, names must mean what they mean here, whatever the caller's own path is.
do $$
begin
  execute format('alter function queue_log_entries() set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function note_removed_tenant() set search_path = pg_catalog, %I, pg_temp', current_schema());
end
$$;
