-- While a table is new and without statistics, all indexes that begin with tenant_id seem equally selective. Postgres then
-- takes the smallest, and of equals the youngest. Foreign keys and prepared statements keep their plans, so with another
-- index than the primary key each of their look-ups by id would read every token of the tenant. Hence primary keys are
-- made last, and no other index that such a look-up could use is smaller.

-- Collation "C" compares bytes: prefixes use an index, and cursors order alike on every server.
-- There is no foreign key to tenants: its row lock on every insert would queue all writes of a tenant.
create table tokens (
  tenant_id uuid not null,
  token_id text collate "C" not null,
  type text not null,
  container text collate "C" not null,
  data bytea not null,
  mask bytea,
  metadata jsonb not null,
  -- Keys and values in lower case, for matching without regard to case; null where there is no metadata.
  metadata_folded jsonb,
  -- The expressions as they were given; their values exist as hashes only.
  search_indexes jsonb,
  fingerprint bytea,
  fingerprint_expression text,
  expires_at timestamptz(3),
  created_by uuid not null,
  created_at timestamptz(3) not null,
  modified_by uuid,
  modified_at timestamptz(3),
  -- Counts updates, so that one based on an older reading is refused.
  version integer not null default 1
)
-- Room on each page for the next version of an updated row.
with (fillfactor = 90);

-- Ciphertext does not compress: trying costs time and gains nothing.
alter table tokens alter column data set storage external, alter column mask set storage external;

create index tokens_newest on tokens (tenant_id, created_at, token_id);
create index tokens_container on tokens (tenant_id, container, created_at, token_id);
create index tokens_fingerprint on tokens (tenant_id, fingerprint) where fingerprint is not null;
create index tokens_expiry on tokens (expires_at) where expires_at is not null;
-- Without a pending list, so that no insert pays for flushing the entries of many others.
create index tokens_metadata on tokens using gin (metadata_folded jsonb_path_ops)
  with (fastupdate = off) where metadata_folded is not null;

alter table tokens add primary key (tenant_id, token_id);

-- Apart from tokens, so that clearing a code leaves the token's row as it is.
create table token_cvcs (
  tenant_id uuid not null,
  token_id text collate "C" not null,
  cvc bytea not null,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, token_id),
  foreign key (tenant_id, token_id) references tokens on delete cascade
);

create index token_cvcs_expiry on token_cvcs (expires_at);

-- Keyed hashes of the values of search indexes: a b-tree costs an insert less than GIN on an array.
create table token_search_hashes (
  tenant_id uuid not null,
  token_id text collate "C" not null,
  hash bytea not null,
  foreign key (tenant_id, token_id) references tokens on delete cascade
);

create index token_search_hashes_hash on token_search_hashes (tenant_id, hash, token_id);
alter table token_search_hashes add primary key (tenant_id, token_id, hash);
