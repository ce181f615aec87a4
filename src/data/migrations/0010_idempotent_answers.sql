-- First answers to requests with an idempotency key. Until its answer is stored, a row says that the request is under
-- way. A row past `expires_at` stands for nothing: whoever sends the key next takes it over.
create table idempotent_answers (
  tenant_id uuid not null,
  -- The application, or the session, that the key belongs to.
  owner_id uuid not null,
  -- Keyed hash: what callers choose as a key may tell of what they do.
  key_hash bytea not null,
  -- Of the attempt that is under way; only it may store the answer.
  claim uuid not null,
  -- Sealed; null while the request is under way.
  answer bytea,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, owner_id, key_hash)
);

-- Ciphertext does not compress.
alter table idempotent_answers alter column answer set storage external;

create index idempotent_answers_expiry on idempotent_answers (expires_at);
