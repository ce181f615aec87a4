import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('a session whose application is deleted while it is asked for', () => {
  let vault: TestVault;
  let browser: TestApplication;
  let backend: TestApplication;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    browser = await vault.application({ type: 'public' });
    backend = await vault.application({ permissions: ['token:read'] });
  });

  const create = () => vault.request('POST', '/sessions', { key: browser.key });
  const authorize = (nonce: string, key = backend.key) =>
    vault.request('POST', '/sessions/authorize', { key, body: { nonce, permissions: ['token:read'] } });

  /** The answer to a request whose key is good until its statement `waiting` waits for a deletion. */
  async function whileDeleting(
    kind: 'application' | 'tenant',
    id: string,
    waiting: string,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    let request!: Promise<Answer>;
    await vault.database.transaction(async (transaction) => {
      await transaction.run({ text: `delete from ${kind}s where ${kind}_id = $1` }, [id]);
      request = send();
      await eventually(async () => {
        const text = `select from pg_stat_activity where wait_event_type = 'Lock' and query like $1`;
        expect(await vault.database.run({ text }, [`%${waiting}%`])).to.have.length(1);
      });
    });
    return request;
  }

  async function expectRefusal({ status, headers, body }: Answer): Promise<void> {
    const { body: unknown } = await vault.request('GET', '/permissions', { key: 'unknown' });
    expect([status, headers.get('www-authenticate')]).to.deep.equal([401, 'ApiKey']);
    expect({ ...body, instance: '' }).to.deep.equal({ ...unknown, instance: '' });
  }

  const loggedOf = ({ id }: TestApplication, operation: string) =>
    vault.database.run(
      { text: `select from logs where actor_id = $1 and operation = $2 and entity_type = 'session'` },
      [id, operation],
    );

  it('is not made: the key is refused as any that is not good', async () => {
    await expectRefusal(await whileDeleting('application', browser.id, 'insert into sessions', create));
    expect(await vault.database.run({ text: 'select from sessions' })).to.have.length(0);
    expect(await loggedOf(browser, 'create')).to.have.length(0);
  });

  it('is not authorized: the key is refused likewise, and the nonce stays good', async () => {
    const { nonce } = (await create()).body as { nonce: string };
    await expectRefusal(await whileDeleting('application', backend.id, 'update sessions', () => authorize(nonce)));
    expect(await loggedOf(backend, 'authorize')).to.have.length(0);
    const { key } = await vault.application({ permissions: ['token:read'] });
    expect((await authorize(nonce, key)).status).to.equal(200);
  });

  it('is not made where its tenant goes as well', async () => {
    const tenantId = await vault.tenant();
    browser = await vault.application({ type: 'public', tenantId });
    await expectRefusal(await whileDeleting('tenant', tenantId, 'insert into sessions', create));
  });
});
