-- Tells every replica what of the control data changed, within a second. Never on tokens or logs: a transaction that
-- notifies takes a lock of the whole database when it commits.
create function notify_change() returns trigger
language plpgsql as $$
declare
  -- Names of the kind and of the column that holds the id.
  kind text := tg_argv[0];
  id_column text := tg_argv[1];
  changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  perform pg_notify('tokenkeep_changes', jsonb_build_object(
    'kind', kind, 'tenantId', changed -> 'tenant_id', 'id', changed -> id_column
  )::text);
  return null;
end
$$;

create trigger notify_change after insert or update or delete on tenants
  for each row execute function notify_change('tenant', 'tenant_id');
create trigger notify_change after insert or update or delete on applications
  for each row execute function notify_change('application', 'application_id');
create trigger notify_change after insert or update or delete on application_keys
  for each row execute function notify_change('application', 'application_id');
create trigger notify_change after insert or update or delete on reactors
  for each row execute function notify_change('reactor', 'reactor_id');
