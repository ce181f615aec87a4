import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  deleteApplicationKey,
  getApplicationKey,
  insertApplicationKey,
  listApplicationKeys,
  type NewApplicationKey,
} from '../../../src/data/application-keys.ts';
import { deleteApplication, insertApplication } from '../../../src/data/applications.ts';
import { setDeclaredKeys } from '../../../src/data/declared-keys.ts';
import { findKeyAccess } from '../../../src/data/key-access.ts';
import { listLogs } from '../../../src/data/logs.ts';
import { digestOfKey } from '../../../src/domain/application-keys.ts';
import type { DeclaredKey } from '../../../src/domain/declarations.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, LATER, newApplication, newApplicationKey, newLog, storedTenant } from '../../support/rows.ts';

describe('application keys in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;
  let applicationId: string;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(async () => {
    tenantId = await storedTenant(test.database);
    const application = newApplication(tenantId, { permissions: ['token:read', 'token:create'] });
    applicationId = application.id;
    await insertApplication(test.database, application, newLog(tenantId, applicationId));
  });

  const insert = (key: NewApplicationKey) =>
    insertApplicationKey(test.database, key, newLog(tenantId, key.id, { entityType: 'application_key' }));
  const ids = async () =>
    (await listApplicationKeys(test.database, tenantId, [applicationId])).map(({ id }) => id).sort();

  it('come back without their digest', async () => {
    const key = newApplicationKey(tenantId, applicationId, { createdBy: randomUUID(), expiresAt: LATER() });
    expect(await insert(key)).to.equal('created');
    const { digest: _digest, ...stored } = key;
    expect(await getApplicationKey(test.database, tenantId, applicationId, key.id)).to.deep.equal(stored);
    expect(await listApplicationKeys(test.database, tenantId, [applicationId, randomUUID()])).to.deep.equal([stored]);
    expect(await getApplicationKey(test.database, tenantId, randomUUID(), key.id)).to.equal(undefined);
  });

  it('are three at most, however many are made at the same time', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => insert(newApplicationKey(tenantId, applicationId))),
    );
    expect(outcomes.filter((outcome) => outcome === 'created')).to.have.length(3);
    expect(new Set(outcomes)).to.deep.equal(new Set(['created', 'too-many-keys']));
    const logs = await listLogs(test.database, {
      ...{ tenantId, entityType: 'application_key', retentionSeconds: 60, limit: 100 },
    });
    expect(logs).to.have.length(3);
  });

  it('do not count once they have expired', async () => {
    for (let count = 0; count < 3; count++) {
      await insert(newApplicationKey(tenantId, applicationId, { expiresAt: EARLIER() }));
    }
    expect(await insert(newApplicationKey(tenantId, applicationId))).to.equal('created');
    expect(await ids()).to.have.length(1);
  });

  it('need their application', async () => {
    expect(await insert(newApplicationKey(tenantId, randomUUID()))).to.equal('no-application');
  });

  it('are deleted once, and with their application', async () => {
    const [first, second] = [newApplicationKey(tenantId, applicationId), newApplicationKey(tenantId, applicationId)];
    await insert(first);
    await insert(second);
    const remove = () =>
      deleteApplicationKey(test.database, tenantId, applicationId, first.id, newLog(tenantId, first.id));
    expect([await remove(), await remove()]).to.deep.equal([true, false]);
    expect(await ids()).to.deep.equal([second.id]);
    await deleteApplication(test.database, tenantId, applicationId, newLog(tenantId, applicationId));
    expect(await findKeyAccess(test.database, second.digest)).to.equal(undefined);
  });

  describe('presented', () => {
    it('give application and tenant, and when access ends', async () => {
      const key = newApplicationKey(tenantId, applicationId, { expiresAt: LATER() });
      await insert(key);
      expect(await findKeyAccess(test.database, key.digest)).to.deep.include({
        ...{ tenantId, tenantType: 'test', keyId: key.id, applicationId, applicationType: 'private' },
        ...{ permissions: ['token:read', 'token:create'], rules: [], expiresAt: key.expiresAt },
      });
    });

    it('give nothing where they are unknown or expired', async () => {
      const key = newApplicationKey(tenantId, applicationId, { expiresAt: EARLIER() });
      await insert(key);
      expect(await findKeyAccess(test.database, key.digest)).to.equal(undefined);
      expect(await findKeyAccess(test.database, digestOfKey('unknown'))).to.equal(undefined);
    });

    it('give nothing where their application has expired', async () => {
      const application = newApplication(tenantId, { expiresAt: LATER() });
      await insertApplication(test.database, application, newLog(tenantId, application.id));
      const key = newApplicationKey(tenantId, application.id);
      await insert(key);
      expect((await findKeyAccess(test.database, key.digest))?.expiresAt).to.deep.equal(application.expiresAt);
      // Not now: the system's clock may be set back by as much as it has gone on.
      const text = `update applications set expires_at = now() - interval '1 minute' where application_id = $1`;
      await test.database.run({ text }, [application.id]);
      expect(await findKeyAccess(test.database, key.digest)).to.equal(undefined);
    });
  });

  describe('declared', () => {
    const declared = (overrides: Partial<DeclaredKey> = {}): DeclaredKey => {
      const { id, digest } = newApplicationKey(tenantId, applicationId);
      return { id, digest, ...overrides };
    };
    const set = (keys: DeclaredKey[]) =>
      setDeclaredKeys(
        test.database,
        { tenantId, id: applicationId },
        keys,
        (operation, id) => newLog(tenantId, id, { operation, entityType: 'application_key' }),
        new Date(),
      );

    it('become exactly those given, and those made through the API stay', async () => {
      const made = newApplicationKey(tenantId, applicationId);
      await insert(made);
      const [first, second] = [declared(), declared()];
      expect(await set([first])).to.deep.equal({ created: [first.id], updated: [], revoked: [] });
      expect(await set([first])).to.deep.equal({ created: [], updated: [], revoked: [] });
      expect(await set([second])).to.deep.equal({ created: [second.id], updated: [], revoked: [first.id] });
      expect(await ids()).to.deep.equal([made.id, second.id].sort());
      expect(await set([])).to.deep.equal({ created: [], updated: [], revoked: [second.id] });
      expect(await ids()).to.deep.equal([made.id]);
    });

    it('take a new expiry', async () => {
      const key = declared();
      await set([key]);
      const expiresAt = LATER().toISOString();
      expect(await set([{ ...key, expiresAt }])).to.deep.equal({ created: [], updated: [key.id], revoked: [] });
      expect((await findKeyAccess(test.database, key.digest))?.expiresAt?.toISOString()).to.equal(expiresAt);
    });

    it('do not count against the limit', async () => {
      await set([declared(), declared(), declared()]);
      expect(await insert(newApplicationKey(tenantId, applicationId))).to.equal('created');
    });

    it('are logged one by one', async () => {
      const key = declared();
      await set([key]);
      await set([]);
      const logs = await listLogs(test.database, { tenantId, entityId: key.id, retentionSeconds: 60, limit: 10 });
      expect(logs.map(({ operation }) => operation).sort()).to.deep.equal(['create', 'delete']);
    });
  });
});
