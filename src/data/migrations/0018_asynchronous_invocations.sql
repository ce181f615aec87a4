-- Invocations whose callers do not wait: what is to be run, and what is to be delivered of it. A row is looked after
-- by whoever holds its lease, until `due_at`; then by whoever claims it next.
create table reactor_invocations (
  tenant_id uuid not null,
  invocation_id uuid not null,
  reactor_id uuid not null,
  -- Who asked, and alone may read the result.
  application_id uuid not null,
  trace_id text not null,
  state text not null
    check (state in ('waiting', 'running', 'done', 'delivered', 'given_up', 'stopped')),
  -- Sealed, expressions as they came; null once the code has ended.
  args bytea,
  -- Sealed, since a URL may hold a secret; null once nothing more is sent there.
  callback_url bytea,
  -- Sealed; null until there is one.
  result bytea,
  sealed_format smallint not null,
  -- Claims in this stage: tries to find an instance, then deliveries.
  attempts integer not null default 0,
  lease uuid,
  -- When to look at it next; null: never again.
  due_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  -- Null until the code has ended.
  expires_at timestamptz(3),
  primary key (tenant_id, invocation_id)
);
create index reactor_invocations_due on reactor_invocations (state, due_at) where due_at is not null;
create index reactor_invocations_unended on reactor_invocations (tenant_id) where expires_at is null;
create index reactor_invocations_expiring on reactor_invocations (expires_at) where expires_at is not null;

-- What a tenant's callbacks are signed with: the one that never ends, and those that it has replaced for a while.
create table webhook_secrets (
  tenant_id uuid not null references tenants on delete cascade,
  secret_id uuid not null,
  -- Sealed.
  secret bytea not null,
  sealed_format smallint not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  primary key (tenant_id, secret_id)
);
create unique index webhook_secrets_current on webhook_secrets (tenant_id) where expires_at is null;
create index webhook_secrets_expiring on webhook_secrets (expires_at) where expires_at is not null;

do $$
declare
  name text;
begin
  foreach name in array array['reactor_invocations', 'webhook_secrets'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to tokenkeep_api
        using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())',
      name
    );
    execute format('create policy every_row on %I for select to tokenkeep_sweeper using (true)', name);
    execute format('create policy removal on %I for delete to tokenkeep_sweeper using (true)', name);
  end loop;
end
$$;
create policy claiming on reactor_invocations for update to tokenkeep_sweeper using (true) with check (true);
create policy locking on webhook_secrets for update to tokenkeep_sweeper using (true) with check (false);

grant select, insert, update, delete on reactor_invocations, webhook_secrets to tokenkeep_api;
-- Finds what is due, of whatever tenant, and takes it on; what it is about, the API reads in that tenant's scope.
grant select (ctid, tenant_id, invocation_id, reactor_id, application_id, trace_id, state, attempts, lease, due_at,
  created_at, expires_at), update (attempts, lease, due_at), delete on reactor_invocations to tokenkeep_sweeper;
grant select (ctid, tenant_id, secret_id, expires_at), update (expires_at), delete on webhook_secrets
  to tokenkeep_sweeper;
