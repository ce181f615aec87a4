import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { SqlError } from '../../../src/data/failures.ts';
import { findMasterKey, findVersionUses, raiseFence } from '../../../src/data/master-keys.ts';
import {
  countWrappedBelow,
  deactivateDataKeys,
  listWrappedBelow,
  replaceWrapped,
} from '../../../src/data/wrapped-keys.ts';
import type { StoredDataKey } from '../../../src/domain/data-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { startFreezingProxy } from '../../support/freezing-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const TOKENS = { management: 'keyring', master: 'tokens' } as const;

describe('versions of master keys', () => {
  let test: TestDatabase;
  let tenantId: string;

  const dataKey = (version: number, purpose: StoredDataKey['purpose'] = 'data'): StoredDataKey => ({
    ...{ tenantId, id: randomUUID(), purpose, wrapped: `keyring:v${version}:${randomUUID()}`, uses: 0 },
    createdAt: new Date(),
    destroyAt: null,
  });
  const activate = (key: StoredDataKey, replaces?: string) => createDataKeyStore(test.database).activate(key, replaces);

  beforeEach(async () => {
    test = await createTestDatabase();
    tenantId = await storedTenant(test.database);
  });
  afterEach(() => test.dispose());

  it('are read out of what is wrapped, and the newest that was ever used is kept', async () => {
    const [first, second] = [dataKey(3), dataKey(12)];
    expect(await activate(first)).to.equal('activated');
    expect(await activate(second, first.id)).to.equal('activated');
    expect(await activate(dataKey(2, 'cvc'))).to.equal('activated');
    const uses = (await findVersionUses(test.database)).map(({ master, version, dataKeys }) => [
      master,
      version,
      dataKeys,
    ]);
    expect(uses).to.deep.equal([
      ['cvc', 2, 1],
      ['tokens', 3, 1],
      ['tokens', 12, 1],
    ]);
    await test.database.run({ text: 'delete from data_keys' });
    expect(await findMasterKey(test.database, TOKENS)).to.include({ usedVersion: 12 });
    expect(await findMasterKey(test.database, { management: 'keyring', master: 'cvc' })).to.include({ usedVersion: 2 });
    expect(await findMasterKey(test.database, { management: 'vault', master: 'cvc' })).to.include({ usedVersion: 0 });
  });

  it('below the fence take no data key, and leave the active one as it is', async () => {
    const before = dataKey(2);
    await activate(before);
    await raiseFence(test.database, TOKENS, 3);
    expect(await activate(dataKey(2), before.id)).to.equal('retired');
    expect(await createDataKeyStore(test.database).findActive(tenantId, 'data')).to.include({ id: before.id });
    expect(await activate(dataKey(3), before.id)).to.equal('activated');
    // That of codes is another one's.
    expect(await activate(dataKey(1, 'cvc'))).to.equal('activated');
  });

  it('are fenced for whoever writes, and cannot be moved by who serves requests', async () => {
    await raiseFence(test.database, TOKENS, 3);
    const insert = `
      insert into data_keys (tenant_id, data_key_id, purpose, wrapped, active, uses, created_at)
      values ($1, gen_random_uuid(), 'data', $2, false, 0, now())`;
    for (const wrapped of ['keyring:v2:x', 'elsewhere:v3:x', 'x']) {
      const [outcome] = await Promise.allSettled([test.database.run({ text: insert }, [tenantId, wrapped])]);
      expect(outcome, wrapped).to.have.nested.property('reason').that.is.instanceOf(SqlError);
    }
    for (const text of ['update master_keys set oldest_version = 1', 'delete from master_keys']) {
      const [outcome] = await Promise.allSettled([test.api.run({ text })]);
      expect(outcome, text).to.have.nested.property('reason.kind', 'unavailable');
    }
  });

  it('are fenced only when every transaction before it has ended, so that what they store is seen', async () => {
    let raised = false;
    let raising: Promise<void> | undefined;
    await test.database.transaction(async (transaction) => {
      await createDataKeyStore(transaction).activate(dataKey(1));
      raising = raiseFence(test.database, TOKENS, 2).then(() => void (raised = true));
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%oldest_version%'`;
      await eventually(async () => expect(await test.database.run({ text: waits })).to.have.length(1));
      expect(raised).to.equal(false);
    });
    await raising;
    expect(await countWrappedBelow(test.database, TOKENS, 2)).to.equal(1);
  });

  it('list what is wrapped below them in order, and replace only what is still as it was read', async () => {
    for (let count = 0; count < 5; count++) {
      tenantId = await storedTenant(test.database);
      await activate(dataKey(1));
    }
    const of = { ...TOKENS, version: 2 };
    const first = await listWrappedBelow(test.database, of, { limit: 3 });
    const rest = await listWrappedBelow(test.database, of, { after: first.at(-1), limit: 3 });
    const ids = [...first, ...rest].map((key) => key.tenantId + key.id);
    expect(ids)
      .to.have.length(5)
      .and.deep.equal([...ids].sort());
    const replaced = first.map((key) => ({ ...key, replacement: `keyring:v2:${key.id}` }));
    expect(await replaceWrapped(test.database, [replaced[0]!, { ...replaced[1]!, wrapped: 'another' }])).to.equal(1);
    expect(await countWrappedBelow(test.database, TOKENS, 2)).to.equal(4);
  });

  it('end the time of active data keys, except those that hash and those made since', async () => {
    await activate(dataKey(1));
    await activate(dataKey(1, 'fingerprint'));
    const madeBefore = new Date(Date.now() + 1);
    tenantId = await storedTenant(test.database);
    await activate({ ...dataKey(1), createdAt: new Date(Date.now() + 60_000) });
    expect(await deactivateDataKeys(test.database, { madeBefore, limit: 10 })).to.equal(1);
    expect(await deactivateDataKeys(test.database, { madeBefore, limit: 10 })).to.equal(0);
  });
});

describe('an advisory lock', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  it('goes to one session, and to the next once it is released', async () => {
    const held = await tryAdvisoryLock(test.connectionString, 'a');
    expect(await tryAdvisoryLock(test.connectionString, 'a')).to.equal(undefined);
    const other = await tryAdvisoryLock(test.connectionString, 'b');
    await held!.release();
    const again = await tryAdvisoryLock(test.connectionString, 'a');
    expect(again).not.to.equal(undefined);
    await Promise.all([other!.release(), again!.release()]);
  });

  it('ends with its connection, and says so', async () => {
    const held = await tryAdvisoryLock(test.connectionString, 'c');
    const lost = new Promise((resolve) => held!.lost.addEventListener('abort', resolve));
    await test.database.run({
      text: `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tokenkeep c'`,
    });
    await lost;
    const again = await tryAdvisoryLock(test.connectionString, 'c');
    expect(again).not.to.equal(undefined);
    await again!.release();
  });

  it('is let go of where Postgres is gone without a word', async () => {
    const proxy = await startFreezingProxy(test.connectionString);
    try {
      const held = await tryAdvisoryLock(proxy.connectionString, 'd');
      proxy.freeze();
      await held!.release();
    } finally {
      await proxy.close();
    }
  });

  it('fails where Postgres cannot be reached', async () => {
    const [outcome] = await Promise.allSettled([tryAdvisoryLock('postgres://x@127.0.0.1:1/x', 'd')]);
    expect(outcome).to.have.nested.property('reason.kind', 'unavailable');
  });
});
