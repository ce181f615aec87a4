-- Nothing is announced of sessions: one that is not authorized yet is looked up for each request, one that is changes no
-- more, and it ends by its expiry or with an application, whose end is announced.
create table sessions (
  tenant_id uuid not null references tenants on delete cascade,
  session_id uuid not null,
  -- The public application that created it.
  application_id uuid not null,
  -- SHA-256 of the key and of the nonce; neither is stored itself.
  key_digest bytea not null,
  nonce_digest bytea not null,
  -- Null as long as nobody has authorized it: the nonce has not been used.
  authorized_by uuid,
  permissions text[] not null default '{}',
  rules jsonb not null default '[]',
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  foreign key (tenant_id, application_id) references applications on delete cascade,
  foreign key (tenant_id, authorized_by) references applications on delete cascade
);

-- A key is presented without its tenant.
create unique index sessions_key on sessions (key_digest);
create unique index sessions_nonce on sessions (tenant_id, nonce_digest);
create index sessions_application on sessions (tenant_id, application_id);
create index sessions_authorizer on sessions (tenant_id, authorized_by) where authorized_by is not null;
create index sessions_expiry on sessions (expires_at);

-- Last, and so the one that look-ups by id take while the table is without statistics.
alter table sessions add primary key (tenant_id, session_id);
