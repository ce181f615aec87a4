-- The audit log, in partitions of one hour: what is past retention is dropped at once instead of deleted row by row.
create table logs (
  tenant_id uuid not null,
  created_at timestamptz(3) not null,
  log_id uuid not null,
  actor_id uuid,
  actor_type text not null,
  entity_type text not null,
  entity_id text not null,
  operation text not null,
  message text not null,
  primary key (tenant_id, created_at, log_id)
) partition by range (created_at);

create index logs_entity on logs (tenant_id, entity_id, created_at);

-- Catches entries of an hour without a partition: a late partition must not fail a token's write.
create table logs_default partition of logs default;

-- Makes the partitions of this hour and of the given number of hours ahead; gives how many it made.
create function make_log_partitions(hours_ahead integer) returns integer
language plpgsql as $$
declare
  starts timestamptz;
  partition_name text;
  made integer := 0;
begin
  -- One process at a time; the others find the work done.
  perform pg_advisory_xact_lock(hashtext('tokenkeep log partitions'));
  for starts in
    select generate_series(
      date_trunc('hour', now(), 'UTC'),
      date_trunc('hour', now(), 'UTC') + make_interval(hours => hours_ahead),
      interval '1 hour'
    )
  loop
    partition_name := 'logs_' || to_char(starts at time zone 'UTC', 'YYYYMMDDHH24');
    -- An hour of which entries went to the default partition stays there.
    continue when to_regclass(partition_name) is not null
      or exists (
        select from logs_default where created_at >= starts and created_at < starts + interval '1 hour'
      );
    -- Made first and attached then: unlike "create table … partition of", this does not lock the whole
    -- table. The default partition is locked for the moment in which it is seen to hold nothing of the hour; so long, those
    -- who read or write it, or read every partition, wait.
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

-- Drops the partitions whose entries are all older than `oldest`, and those entries of the default partition.
create function drop_log_partitions(oldest timestamptz) returns integer
language plpgsql as $$
declare
  partition_name text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('tokenkeep log partitions'));
  for partition_name in
    select child.relname
    from pg_inherits
    join pg_class child on child.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = 'logs'::regclass and child.relname ~ '^logs_[0-9]{10}$'
  loop
    if to_timestamp(substr(partition_name, 6) || '+00', 'YYYYMMDDHH24TZH') + interval '1 hour' <= oldest then
      execute format('drop table %I', partition_name);
      dropped := dropped + 1;
    end if;
  end loop;
  delete from logs_default where created_at < oldest;
  return dropped;
end
$$;

select make_log_partitions(3);
