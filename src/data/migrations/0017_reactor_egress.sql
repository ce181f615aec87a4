-- Where the code may send requests, as the declaration says; null: to every public address, by https.
alter table reactors add column egress jsonb;
