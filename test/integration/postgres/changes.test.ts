import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { insertApplicationKey } from '../../../src/data/application-keys.ts';
import { deleteApplication, insertApplication } from '../../../src/data/applications.ts';
import { listenForChanges, type ChangeListener, type ControlChange } from '../../../src/data/changes.ts';
import { insertReactor } from '../../../src/data/reactors.ts';
import { insertToken } from '../../../src/data/token-inserts.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newApplication, newApplicationKey, newLog, newReactor, newToken, storedTenant } from '../../support/rows.ts';

describe('the feed of changes to control data', () => {
  let test: TestDatabase;
  let listener: ChangeListener;
  let changes: ControlChange[];
  let gaps: number;

  beforeEach(async () => {
    test = await createTestDatabase();
    changes = [];
    gaps = 0;
    listener = await listenForChanges(test.connectionString, {
      onChange: (change) => changes.push(change),
      onGap: () => gaps++,
      logger: silentLogger,
    });
  });
  afterEach(async () => {
    await listener.close();
    await test.dispose();
  });

  it('tells of tenants, applications, their keys and reactors, and of nothing else', async () => {
    const tenantId = await storedTenant(test.database);
    const application = newApplication(tenantId);
    await insertApplication(test.database, application, newLog(tenantId, application.id));
    await insertToken(test.database, newToken(tenantId, { id: 'quiet' }), newLog(tenantId, 'quiet'));
    await insertApplicationKey(test.database, newApplicationKey(tenantId, application.id), newLog(tenantId, 'k'));
    const reactor = newReactor(tenantId);
    await insertReactor(test.database, reactor, newLog(tenantId, reactor.id));
    await deleteApplication(test.database, tenantId, application.id, newLog(tenantId, application.id));
    const applicationChange = { kind: 'application', tenantId, id: application.id };
    await eventually(() =>
      expect(changes).to.deep.equal([
        { kind: 'tenant', tenantId, id: tenantId },
        applicationChange,
        applicationChange,
        { kind: 'reactor', tenantId, id: reactor.id },
        applicationChange,
      ]),
    );
    expect(gaps).to.equal(1);
  });

  it('passes over what it cannot read', async () => {
    for (const payload of ['', '{', 'null', '[]', '{"kind":"token","tenantId":"a","id":"b"}', '{"kind":"tenant"}']) {
      await test.database.run({ text: `select pg_notify('tokenkeep_changes', $1)` }, [payload]);
    }
    const tenantId = await storedTenant(test.database);
    await eventually(() => expect(changes).to.deep.equal([{ kind: 'tenant', tenantId, id: tenantId }]));
  });

  it('connects again after its connection breaks, and says that something may be missing', async () => {
    const terminate = {
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'tokenkeep changes' and datname = current_database()`,
    };
    expect(await test.database.run(terminate)).to.have.length(1);
    await eventually(() => expect(gaps).to.equal(2));
    const tenantId = await storedTenant(test.database);
    await eventually(() => expect(changes).to.deep.include({ kind: 'tenant', tenantId, id: tenantId }));
  });

  it('tells of a change within a second', async () => {
    const begin = Date.now();
    const id = await storedTenant(test.database, { id: randomUUID() });
    await eventually(() => expect(changes).to.deep.include({ kind: 'tenant', tenantId: id, id }));
    expect(Date.now() - begin).to.be.below(1000);
  });

  it('rejects where Postgres cannot be reached at first', async () => {
    const options = { onChange: () => undefined, onGap: () => undefined, logger: silentLogger };
    const outcome = await listenForChanges('postgres://nobody@127.0.0.1:1/none', options).catch((e: unknown) => e);
    expect(outcome).to.have.property('kind', 'unavailable');
  });
});
