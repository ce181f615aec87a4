-- Searches for what an application created. The predicate holds for every token and never changes: it keeps the index
-- from look-ups by id, which do not state it, and which would take it while the table has no statistics (see 0003). An
-- update leaves the index alone as long as it leaves the row on its page.
create index tokens_created_by on tokens (tenant_id, created_by, created_at, token_id)
  where created_at > '-infinity';
