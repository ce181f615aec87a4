-- The application that an answer goes with: its owner, or the one that the owning session was created by. Null in rows
-- that older programs wrote, which are gone within a day.
--
-- Not a foreign key that cascades: every claim would lock, and so write, the row of its application, and the deletion of
-- one with a million answers would take its access away only when all of them are gone, or not at all, where that takes
-- longer than a statement may. So access ends first, by itself, and then answers go in batches.
alter table idempotent_answers add column application_id uuid;

-- The predicate keeps it from look-ups by slot, which do not state it (see 0003).
create index idempotent_answers_application on idempotent_answers (tenant_id, application_id)
  where application_id is not null;
