-- Who may do what. The group roles tokenkeep_api and tokenkeep_sweeper are made before migrations run (see
-- group-roles.ts). A table that comes later is granted to neither until its own migration says so: default privileges
-- would open the partitions of the log too, which have no policies.

-- The tenant that a session of the API is confined to; null, of which no row is, where it is set to none.
create function current_tenant() returns uuid language sql stable parallel safe
return nullif(current_setting('tokenkeep.tenant_id', true), '')::uuid;

do $$
declare
  name text;
begin
  foreach name in array array[
    'tenants', 'applications', 'application_keys', 'sessions', 'data_keys', 'tokens', 'token_cvcs',
    'token_search_hashes', 'token_counts', 'token_count_changes', 'reactors', 'idempotent_answers', 'logs'
  ] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to tokenkeep_api
        using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())',
      name
    );
    execute format('create policy every_row on %I for select to tokenkeep_sweeper using (true)', name);
  end loop;
  foreach name in array array[
    'applications', 'sessions', 'data_keys', 'tokens', 'token_cvcs', 'idempotent_answers'
  ] loop
    execute format('create policy removal on %I for delete to tokenkeep_sweeper using (true)', name);
  end loop;
  -- To lock a row takes the right to update some column of it; what the check refuses is the update itself.
  foreach name in array array['sessions', 'tokens', 'token_cvcs', 'idempotent_answers'] loop
    execute format(
      'create policy locking on %I for update to tokenkeep_sweeper using (true) with check (false)', name
    );
  end loop;
end
$$;

create policy rewrapping on data_keys for update to tokenkeep_sweeper using (true) with check (true);
-- About what it removes.
create policy writing on logs for insert to tokenkeep_sweeper with check (true);

-- A schema of one's own, other than `public`, lets nobody in by itself.
do $$
begin
  execute format('grant usage on schema %I to tokenkeep_api, tokenkeep_sweeper', current_schema());
end
$$;

grant select on schema_migrations, token_counts, token_count_changes to tokenkeep_api;
grant select, insert on logs to tokenkeep_api;
grant select, insert, update on tenants, sessions, data_keys to tokenkeep_api;
grant select, insert, delete on token_search_hashes to tokenkeep_api;
grant select, insert, update, delete
  on applications, application_keys, tokens, token_cvcs, reactors, idempotent_answers to tokenkeep_api;
-- A tenant ends by the control plane alone, and its log only after it.
grant delete on tenants to tokenkeep_api;

-- The sweeper sees what tells it what to remove, and nothing that is sealed; save for wrapped keys, which it wraps
-- anew, and reactors, which the control plane asks for across tenants.
grant select on schema_migrations, logs, reactors, data_keys to tokenkeep_sweeper;
grant insert on logs to tokenkeep_sweeper;
grant update (wrapped, active), delete on data_keys to tokenkeep_sweeper;
grant select (tenant_id, quotas) on tenants to tokenkeep_sweeper;
grant select (tenant_id, application_id, expires_at, declared), delete on applications to tokenkeep_sweeper;
grant select (tenant_id, session_id, expires_at), update (expires_at), delete on sessions to tokenkeep_sweeper;
grant select (tenant_id, token_id, type, expires_at), update (expires_at), delete on tokens to tokenkeep_sweeper;
grant select (tenant_id, token_id, expires_at), update (expires_at), delete on token_cvcs to tokenkeep_sweeper;
grant select (ctid, tenant_id, application_id, claim, expires_at), update (expires_at), delete
  on idempotent_answers to tokenkeep_sweeper;

-- Master keys and what the log is chained by (0013, 0014) are of no tenant. Neither role may change a link.
do $$
declare
  name text;
begin
  foreach name in array array['log_unlinked', 'log_links', 'log_heads'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy every_row on %I for select to tokenkeep_sweeper using (true)', name);
    execute format('create policy writing on %I for insert to tokenkeep_sweeper with check (true)', name);
    execute format('create policy removal on %I for delete to tokenkeep_sweeper using (true)', name);
    execute format(
      'create policy locking on %I for update to tokenkeep_sweeper using (true) with check (false)', name
    );
  end loop;
end
$$;
alter table log_removed_tenants enable row level security;
create policy every_row on log_removed_tenants for select to tokenkeep_sweeper using (true);
create policy removal on log_removed_tenants for delete to tokenkeep_sweeper using (true);

grant select, update on master_keys, log_horizon to tokenkeep_sweeper;
grant select, delete on log_unlinked, log_removed_tenants to tokenkeep_sweeper;
grant select, insert, delete on log_links, log_heads to tokenkeep_sweeper;
grant update (entries) on log_unlinked to tokenkeep_sweeper;
grant update (linked_at) on log_links to tokenkeep_sweeper;
grant update (anchored_at) on log_heads to tokenkeep_sweeper;

-- What a presented key decides, before anything is known of its tenant: the one row whose digest is given.
create function find_key_access(key_digest bytea)
returns table (
  tenant_id uuid, tenant_type text, quotas jsonb, settings jsonb, key_id uuid, application_id uuid,
  application_type text, permissions text[], rules jsonb, expires_at timestamptz
)
language sql stable security definer rows 1
begin atomic
  -- least() passes over nulls.
  select t.tenant_id, t.type, t.quotas, t.settings, k.key_id, a.application_id, a.type, a.permissions, a.rules,
    least(k.expires_at, a.expires_at)
  from application_keys k
  join applications a on a.tenant_id = k.tenant_id and a.application_id = k.application_id
  join tenants t on t.tenant_id = k.tenant_id
  where k.digest = key_digest
    and (k.expires_at is null or k.expires_at > now())
    and (a.expires_at is null or a.expires_at > now());
end;

create function find_session_access(session_key_digest bytea)
returns table (
  tenant_id uuid, tenant_type text, quotas jsonb, settings jsonb, session_id uuid, permissions text[], rules jsonb,
  application_id uuid, application_type text, authorizer jsonb, expires_at timestamptz
)
language sql stable security definer rows 1
begin atomic
  select t.tenant_id, t.type, t.quotas, t.settings, s.session_id, s.permissions, s.rules, c.application_id, c.type,
    case when a.application_id is not null then
      jsonb_build_object('id', a.application_id, 'permissions', a.permissions, 'rules', a.rules)
    end,
    least(s.expires_at, c.expires_at, a.expires_at)
  from sessions s
  join tenants t on t.tenant_id = s.tenant_id
  join applications c on c.tenant_id = s.tenant_id and c.application_id = s.application_id
  left join applications a on a.tenant_id = s.tenant_id and a.application_id = s.authorized_by
  where s.key_digest = session_key_digest and least(s.expires_at, c.expires_at, a.expires_at) > now();
end;

-- At most `most` of the tenant's tokens, all where it is null, that have the metadata, without what is sealed in them.
-- Where policies hold, only operators that Postgres knows to be leakproof may look into an index, and @> is none: it
-- would be tried on every token of the tenant. Planned for its values; without a limit they are many, and to write them
-- to disk would take longer than to find them.
create function tokens_with_metadata(wanted jsonb, most bigint)
returns table (
  tenant_id uuid, token_id text, type text, container text, fingerprint bytea, created_by uuid, created_at timestamptz,
  expires_at timestamptz, metadata_folded jsonb
)
language plpgsql stable set work_mem = '32MB' as $$
begin
  return query execute '
    select tenant_id, token_id, type, container, fingerprint, created_by, created_at::timestamptz,
      expires_at::timestamptz, metadata_folded
    from tokens where tenant_id = $1 and metadata_folded @> $2 limit $3'
  using current_tenant(), wanted, most;
end
$$;

-- What no tenant's retention reaches back to.
create function oldest_retained_log() returns timestamptz language sql stable
return now() - make_interval(secs => (
  select coalesce(max((quotas ->> 'logRetentionSeconds')::float8), 0) from tenants
));

-- Nobody but the owner may update or delete entries; these remove what nobody is to see any more, and take no word for
-- what that is.
create function drop_expired_log_partition() returns integer
language sql security definer
begin atomic
  select drop_log_partitions(oldest_retained_log());
end;

create function clear_unpartitioned_logs(most integer) returns integer
language sql security definer
begin atomic
  with removed as (
    delete from logs_default where ctid = any (array(
      select ctid from logs_default where created_at < oldest_retained_log() order by created_at limit most
      for update skip locked
    ))
    returning log_id
  )
  select count(*)::integer from removed;
end;

create function remove_logs_of_deleted_tenant(deleted_tenant_id uuid, most integer) returns integer
language sql security definer
begin atomic
  with some_logs as (
    select created_at, log_id from logs
    where tenant_id = deleted_tenant_id and not exists (select from tenants t where t.tenant_id = deleted_tenant_id)
    limit most
  ), removed as (
    delete from logs l using some_logs s
    where l.tenant_id = deleted_tenant_id and l.created_at = s.created_at and l.log_id = s.log_id
    returning l.log_id
  ), noted as (
    -- Requests that were under way when the tenant was deleted have written entries since.
    insert into log_removed_tenants (tenant_id, removed_at)
    select deleted_tenant_id, clock_timestamp() from removed limit 1
    on conflict (tenant_id) do update set removed_at = excluded.removed_at
  )
  select count(*)::integer from removed;
end;

-- Run as their owner: counts are kept by triggers alone, and partitions are the owner's. Their names mean what they
-- mean here, whatever the caller's own path is.
do $$
declare
  signature text;
begin
  foreach signature in array array[
    'count_inserted_tokens()', 'count_deleted_tokens()', 'count_moved_token()', 'fold_token_counts(integer)',
    'drop_empty_token_counts(integer)', 'make_log_partitions(integer)', 'drop_expired_log_partition()',
    'clear_unpartitioned_logs(integer)', 'remove_logs_of_deleted_tenant(uuid, integer)', 'find_key_access(bytea)',
    'find_session_access(bytea)', 'tokens_with_metadata(jsonb, bigint)'
  ] loop
    execute format(
      -- Without pg_catalog, which is looked at first anyway: tables are made in the first schema that is named.
      'alter function %s security definer set search_path = %I, pg_temp', signature, current_schema()
    );
    execute format('revoke execute on function %s from public', signature);
  end loop;
end
$$;

revoke execute on function drop_log_partitions(timestamptz) from public;
-- Whoever may execute these could run them by triggers on temporary tables of their own, with rows of their choice.
revoke execute on function fence_data_key(), queue_log_entries(), note_removed_tenant() from public;
grant execute on function find_key_access(bytea), find_session_access(bytea), tokens_with_metadata(jsonb, bigint)
  to tokenkeep_api;
grant execute on function fold_token_counts(integer), drop_empty_token_counts(integer), make_log_partitions(integer),
  drop_expired_log_partition(), clear_unpartitioned_logs(integer), remove_logs_of_deleted_tenant(uuid, integer)
  to tokenkeep_sweeper;
