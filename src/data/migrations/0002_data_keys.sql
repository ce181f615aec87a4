-- Data keys, wrapped by key management. A value that was sealed under a key is lost once its row is gone.
create table data_keys (
  tenant_id uuid not null references tenants on delete cascade,
  data_key_id uuid not null,
  purpose text not null check (purpose in ('data', 'cvc', 'fingerprint', 'search')),
  wrapped text not null,
  active boolean not null,
  -- Reserved in blocks by the processes that seal; never less than what was sealed.
  uses bigint not null,
  created_at timestamptz(3) not null,
  destroy_at timestamptz(3),
  primary key (tenant_id, data_key_id)
);

-- Of several processes that make a key at once, one wins.
create unique index data_keys_active on data_keys (tenant_id, purpose) where active;
create index data_keys_destruction on data_keys (destroy_at) where destroy_at is not null;
