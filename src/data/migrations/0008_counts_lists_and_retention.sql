-- How many tokens a container holds, so that a list's total does not read them. Changes are appended by whoever makes
-- them and summed up later by the sweeper: a counter in one row would make all creates of a tenant wait for each other.
-- Together, in one snapshot, both tables are exact.
create table token_count_changes (
  tenant_id uuid not null,
  container text collate "C" not null,
  type text not null,
  change bigint not null
);

create index token_count_changes_tenant on token_count_changes (tenant_id);

create table token_counts (
  tenant_id uuid not null,
  container text collate "C" not null,
  type text not null,
  -- Tokens in the container itself.
  own bigint not null,
  -- Tokens in the container and below it: a tenant may have as many containers as tokens.
  within bigint not null,
  primary key (tenant_id, container, type)
);

create function count_inserted_tokens() returns trigger
language plpgsql as $$
begin
  insert into token_count_changes (tenant_id, container, type, change)
  select tenant_id, container, type, count(*) from changed group by tenant_id, container, type;
  return null;
end
$$;

create function count_deleted_tokens() returns trigger
language plpgsql as $$
begin
  insert into token_count_changes (tenant_id, container, type, change)
  select tenant_id, container, type, -count(*) from changed group by tenant_id, container, type;
  return null;
end
$$;

create function count_moved_token() returns trigger
language plpgsql as $$
begin
  insert into token_count_changes (tenant_id, container, type, change)
  values (old.tenant_id, old.container, old.type, -1), (new.tenant_id, new.container, new.type, 1);
  return null;
end
$$;

-- Triggers, so that no statement that makes or removes tokens can leave the counts behind. They lock out writers until
-- this migration ends; what is there then can be counted.
create trigger count_inserted after insert on tokens
  referencing new table as changed for each statement execute function count_inserted_tokens();
create trigger count_deleted after delete on tokens
  referencing old table as changed for each statement execute function count_deleted_tokens();
create trigger count_moved after update on tokens for each row
  when (old.container <> new.container or old.type <> new.type or old.tenant_id <> new.tenant_id)
  execute function count_moved_token();

-- Adds at most so many changes to the counts of their containers and of all above them; gives how many it took. Several
-- may run at once: changes taken by another are passed over, and counts are locked in one order.
create function fold_token_counts(most integer) returns integer
language plpgsql as $$
declare
  taken integer;
begin
  with some_changes as materialized (
    select ctid from token_count_changes limit most for update skip locked
  ), removed as (
    delete from token_count_changes where ctid = any (array(select ctid from some_changes))
    returning tenant_id, container, type, change
  ), summed as (
    select tenant_id, container, type, sum(change) as change from removed group by tenant_id, container, type
  ), spread as (
    select tenant_id, left(container, length) as path, type, change,
      case when length = length(container) then change else 0 end as own
    from summed, generate_series(1, length(container)) as length
    where substr(container, length, 1) = '/' or length = length(container)
  ), written as (
    insert into token_counts as c (tenant_id, container, type, own, within)
    select tenant_id, path, type, sum(own), sum(change) from spread
    group by tenant_id, path, type
    order by tenant_id, path collate "C", type
    on conflict (tenant_id, container, type) do update
    set own = c.own + excluded.own, within = c.within + excluded.within
  )
  select count(*) into taken from removed;
  return taken;
end
$$;

-- Counts of containers that are empty now; locked in the same order.
create function drop_empty_token_counts(most integer) returns integer
language plpgsql as $$
declare
  dropped integer;
begin
  with empty as materialized (
    select tenant_id, container, type from token_counts where own = 0 and within = 0
    order by tenant_id, container, type limit most for update skip locked
  ), removed as (
    delete from token_counts c using empty e
    where c.tenant_id = e.tenant_id and c.container = e.container and c.type = e.type
    returning c.tenant_id
  )
  select count(*) into dropped from removed;
  return dropped;
end
$$;

create index token_counts_empty on token_counts (tenant_id) where own = 0 and within = 0;

insert into token_count_changes (tenant_id, container, type, change)
select tenant_id, container, type, count(*) from tokens group by tenant_id, container, type;
select fold_token_counts(2147483647);

-- What lists are narrowed by, beside their order, so that a page far behind is found in the index alone. The predicate
-- holds for every token and never changes: it keeps the index from look-ups by id, which do not state it, and which would
-- take it while the table has no statistics (see 0003).
create index tokens_listed on tokens (tenant_id, created_at, token_id) include (container, type, expires_at)
  where created_at > '-infinity';
drop index tokens_newest;
create index tokens_type on tokens (tenant_id, type, created_at, token_id) where created_at > '-infinity';

create index logs_type on logs (tenant_id, entity_type, created_at, log_id);
-- What is past retention is looked for here as well as in the partitions.
create index logs_default_created on logs_default (created_at);

-- As in 0004, save that no call waits for long: who waits for a lock on the log has everybody else wait behind it. One
-- process makes partitions at a time, and the others leave them to it.
create or replace function make_log_partitions(hours_ahead integer) returns integer
language plpgsql set lock_timeout = '200ms' as $$
declare
  starts timestamptz;
  partition_name text;
  made integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('tokenkeep log partitions')) then return 0; end if;
  for starts in
    select generate_series(
      date_trunc('hour', now(), 'UTC'),
      date_trunc('hour', now(), 'UTC') + make_interval(hours => hours_ahead),
      interval '1 hour'
    )
  loop
    partition_name := 'logs_' || to_char(starts at time zone 'UTC', 'YYYYMMDDHH24');
    continue when to_regclass(partition_name) is not null
      or exists (
        select from logs_default where created_at >= starts and created_at < starts + interval '1 hour'
      );
    execute format('create table %I (like logs including all)', partition_name);
    execute format(
      'alter table logs attach partition %I for values from (%L) to (%L)',
      partition_name, starts, starts + interval '1 hour'
    );
    made := made + 1;
  end loop;
  return made;
end
$$;

-- Drops the oldest partition whose entries are all older than `oldest`; gives how many it dropped, one or none. Fails
-- with lock_not_available where others use the log for longer than the time limit: dropping locks all of it, and must
-- not wait while live traffic queues behind. (Beside a default partition none can be detached concurrently.)
create or replace function drop_log_partitions(oldest timestamptz) returns integer
language plpgsql set lock_timeout = '200ms' as $$
declare
  partition_name text;
begin
  if not pg_try_advisory_xact_lock(hashtext('tokenkeep log partitions')) then return 0; end if;
  select child.relname into partition_name
  from pg_inherits
  join pg_class child on child.oid = pg_inherits.inhrelid
  where pg_inherits.inhparent = 'logs'::regclass and child.relname ~ '^logs_[0-9]{10}$'
    and to_timestamp(substr(child.relname, 6) || '+00', 'YYYYMMDDHH24TZH') + interval '1 hour' <= oldest
  order by child.relname
  limit 1;
  if partition_name is null then return 0; end if;
  execute format('drop table %I', partition_name);
  return 1;
end
$$;
