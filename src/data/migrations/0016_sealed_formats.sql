-- breaking
-- The format of what is sealed in a row. Rows that are there were sealed in the first one; what writes a row sets the
-- format of its day, so that no value of an older format passes for one of that row.
alter table tokens add column sealed_format smallint not null default 1;
alter table token_cvcs add column sealed_format smallint not null default 1;
alter table reactors add column sealed_format smallint not null default 1;
alter table idempotent_answers add column sealed_format smallint not null default 1;
