import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { administer, createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const RUNBOOKS = new URL('../../../docs/runbooks.md', import.meta.url);

describe('the queries of docs/runbooks.md', () => {
  const name = `tokenkeep_reader_${randomBytes(6).toString('hex')}`;
  let test: TestDatabase;
  let reader: Database;
  let queries: string[];

  before(async () => {
    test = await createTestDatabase();
    const page = await readFile(RUNBOOKS, 'utf8');
    queries = [...page.matchAll(/psql "\$DATABASE_URL" -c "([^"]+)"/g)].map(([, query]) => query!);
    const password = randomBytes(16).toString('hex');
    const [statement] = /create user <name> [^;]+;/.exec(page)!;
    await administer(statement.replace('<name>', name).replace('<password>', password));
    const url = new URL(test.connectionString);
    Object.assign(url, { username: name, password });
    reader = createDatabase({ connectionString: url.href, logger: silentLogger });
  });
  after(async () => {
    await reader.close();
    await test.dispose();
    await administer(`drop role ${name}`);
  });

  it('run on a database as it is, as the user that the page names', async () => {
    expect(queries).to.have.length.above(5);
    for (const text of queries) await reader.run({ text });
  });

  it('show that user the rows of every tenant, and what connections of others do', async () => {
    await test.database.run({
      text: `
        insert into reactor_invocations
          (tenant_id, invocation_id, reactor_id, application_id, trace_id, state, sealed_format)
        select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'trace', 'done', 0
        from generate_series(1, 2)`,
    });
    const asked = (part: string) => queries.find((query) => query.includes(part))!;
    const invocations = await reader.run({ text: asked('min(created_at) from reactor_invocations') });
    expect(invocations[0]).to.include({ state: 'done', count: '2' });
    const states = await reader.run<{ state: string | null }>({ text: asked('select state, wait_event_type') });
    expect(states.map(({ state }) => state))
      .to.include('idle')
      .and.not.to.include(null);
  });
});
