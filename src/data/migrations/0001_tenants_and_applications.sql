-- Control data: few rows, read through caches. Every primary key begins with tenant_id, so that a sharded database
-- keeps the rows of a tenant together.

create table tenants (
  tenant_id uuid primary key,
  name text not null,
  type text not null check (type in ('production', 'test')),
  quotas jsonb not null,
  settings jsonb not null,
  declared boolean not null default false
);

create table applications (
  tenant_id uuid not null references tenants on delete cascade,
  application_id uuid not null,
  name text not null,
  type text not null check (type in ('private', 'public', 'management')),
  permissions text[] not null,
  rules jsonb not null,
  expires_at timestamptz(3),
  declared boolean not null default false,
  created_by uuid,
  created_at timestamptz(3) not null,
  modified_by uuid,
  modified_at timestamptz(3),
  primary key (tenant_id, application_id)
);

create index applications_newest on applications (tenant_id, created_at, application_id);
create index applications_expiry on applications (expires_at) where expires_at is not null;

create table application_keys (
  tenant_id uuid not null,
  key_id uuid not null,
  application_id uuid not null,
  -- SHA-256 of the key; the key itself is stored nowhere.
  digest bytea not null,
  declared boolean not null default false,
  expires_at timestamptz(3),
  created_by uuid,
  created_at timestamptz(3) not null,
  primary key (tenant_id, key_id),
  foreign key (tenant_id, application_id) references applications on delete cascade
);

-- A key is presented without its tenant, and one key must name one application.
create unique index application_keys_digest on application_keys (digest);
create index application_keys_application on application_keys (tenant_id, application_id, created_at);
