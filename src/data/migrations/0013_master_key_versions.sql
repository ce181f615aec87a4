-- Which key management wrapped a data key, under which of its master keys, and under which version of that.
alter table data_keys
  add column management text not null generated always as (split_part(wrapped, ':', 1)) stored,
  add column master text not null generated always as (case purpose when 'cvc' then 'cvc' else 'tokens' end) stored,
  -- Null would be a key that no version of a master key unwraps.
  add column master_version integer not null
    generated always as (substring(wrapped from '^[a-z]+:v([0-9]{1,9}):')::integer) stored;

create index data_keys_master_version on data_keys (management, master, master_version, tenant_id, data_key_id);

-- What is known of the versions of each master key without asking key management.
create table master_keys (
  management text not null,
  master text not null check (master in ('tokens', 'cvc')),
  -- The newest version that a data key was ever wrapped under, whether or not that data key still exists.
  used_version integer not null default 0,
  -- The newest version that a rotation is known to have made.
  current_version integer not null default 0,
  -- The fence: no data key may be stored that is wrapped under an older version, from before that one is retired.
  oldest_version integer not null default 1,
  -- Key management has destroyed all versions below.
  retired_below integer not null default 1,
  primary key (management, master)
);

-- Keys of card verification codes may be destroyed already that were wrapped under the first version of the keyring.
insert into master_keys (management, master, used_version)
select management, master, greatest(max(master_version), first_version)
from (
  select 'keyring', master, case when exists (select from data_keys) then 1 else 0 end
  from unnest(array['tokens', 'cvc']) as master
  union all
  select 'vault', master, 0 from unnest(array['tokens', 'cvc']) as master
) as known (management, master, first_version)
left join data_keys using (management, master)
group by management, master, first_version;

-- Raising the fence waits for the transactions that hold it shared, so that afterwards every data key under an older
-- version is seen. A trigger, because programs of an earlier release store data keys too. It runs as its owner: who may
-- store data keys need not be able to move the fence.
create function fence_data_key() returns trigger language plpgsql security definer as $$
declare
  fence integer;
begin
  -- Before the row is held shared: two that did this after would wait for each other.
  update master_keys set used_version = new.master_version
  where management = new.management and master = new.master and used_version < new.master_version;
  select oldest_version into fence from master_keys
  where management = new.management and master = new.master for share;
  if fence is null or new.master_version < fence then
    raise exception 'a data key is wrapped under a retired version of its master key'
      using errcode = 'check_violation', constraint = 'data_keys_fence';
  end if;
  return null;
end;
$$;

-- The schema of these tables alone, whoever calls and whatever they put first in their own path.
do $$
begin
  execute format('alter function fence_data_key() set search_path = pg_catalog, %I, pg_temp', current_schema());
end;
$$;

-- After, not before: generated columns have their values only then.
create trigger data_keys_fence after insert or update of wrapped on data_keys
  for each row execute function fence_data_key();
