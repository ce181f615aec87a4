create table reactors (
  tenant_id uuid not null references tenants on delete cascade,
  reactor_id uuid not null,
  name text not null,
  -- Sealed: code and configuration may hold secrets.
  code bytea not null,
  configuration bytea not null,
  application_id uuid,
  timeout_seconds integer not null,
  scaling jsonb not null,
  memory_bytes bigint not null,
  revision text not null,
  declared boolean not null default false,
  created_by uuid,
  created_at timestamptz(3) not null,
  modified_by uuid,
  modified_at timestamptz(3),
  primary key (tenant_id, reactor_id)
);

create index reactors_newest on reactors (tenant_id, created_at, reactor_id);
