import { expect } from 'chai';
import { sweepExpiredSessions } from '../../../src/data/sessions.ts';
import type { Permission } from '../../../src/domain/permissions.ts';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

/** A change must be seen by every replica within this time. */
const SEEN_WITHIN_MS = 1_000;
const HOUR_MS = 3_600_000;

describe('the life of a session', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let manager: TestApplication;
  let browser: TestApplication;
  let backend: TestApplication;

  before(async () => {
    vault = await startTestVault();
    replica = await startReplica(vault);
    manager = await vault.application({ type: 'management' });
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });
  beforeEach(async () => {
    browser = await vault.application({ type: 'public' });
    backend = await vault.application({ permissions: ['token:read', 'token:create'] });
  });

  const reading: { permissions: Permission[] } = { permissions: ['token:read'] };

  async function create(): Promise<{ session_key: string; nonce: string }> {
    return (await vault.request('POST', '/sessions', { key: browser.key })).body;
  }
  const authorize = async (nonce: string, grant: object = reading, baseUrl = vault.baseUrl): Promise<number> => {
    const headers = { 'svc-api-key': backend.key, 'content-type': 'application/json' };
    const body = JSON.stringify({ nonce, ...grant });
    return (await fetch(`${baseUrl}/sessions/authorize`, { method: 'POST', headers, body })).status;
  };
  async function statusAtReplica(key: string): Promise<number> {
    const { status } = await fetch(`${replica.baseUrl}/tokens`, { headers: { 'svc-api-key': key } });
    return status;
  }
  const expectSoon = (key: string, status: number) =>
    eventually(async () => expect(await statusAtReplica(key)).to.equal(status), { deadlineMs: SEEN_WITHIN_MS });

  /** The key of a session that reads, which the replica knows. */
  async function usedSession(grant?: object): Promise<string> {
    const { session_key: key, nonce } = await create();
    expect(await authorize(nonce, grant)).to.equal(200);
    expect(await statusAtReplica(key)).to.equal(200);
    return key;
  }

  async function endOf(key: string): Promise<number> {
    const text = `select expires_at from sessions where key_digest = sha256($1::bytea)`;
    const [row] = await vault.database.run<{ expires_at: Date }>({ text }, [Buffer.from(key)]);
    return row!.expires_at.getTime();
  }

  it('begins on every replica with the answer to its authorization', async () => {
    const { session_key: key, nonce } = await create();
    expect(await statusAtReplica(key)).to.equal(403);
    await authorize(nonce);
    expect(await statusAtReplica(key)).to.equal(200);
  });

  it('begins once, though two replicas are asked at the same time', async () => {
    const { nonce } = await create();
    const urls = [vault.baseUrl, replica.baseUrl, vault.baseUrl, replica.baseUrl];
    const statuses = await Promise.all(urls.map((url) => authorize(nonce, reading, url)));
    expect(statuses.sort()).to.deep.equal([200, 409, 409, 409]);
  });

  it('lasts three minutes where the authorization says nothing', async () => {
    expect((await endOf(await usedSession())) - Date.now()).to.be.within(170_000, 180_000);
  });

  it('lasts as long as the authorization says, up to a day', async () => {
    const end = new Date(Date.now() + 23 * HOUR_MS);
    expect(await endOf(await usedSession({ ...reading, expires_at: end.toISOString() }))).to.equal(end.getTime());
    const { nonce } = await create();
    const tooLate = new Date(Date.now() + 25 * HOUR_MS).toISOString();
    expect(await authorize(nonce, { ...reading, expires_at: tooLate })).to.equal(400);
  });

  it('ends on the second, on a replica that knows it', async () => {
    const { session_key: key, nonce } = await create();
    const end = Date.now() + 700;
    await authorize(nonce, { ...reading, expires_at: new Date(end).toISOString() });
    await eventually(async () => expect(await statusAtReplica(key)).to.equal(401));
    expect(Date.now()).to.be.within(end, end + SEEN_WITHIN_MS);
  });

  for (const name of ['authorized', 'created'] as const) {
    it(`ends with the application that ${name} it`, async () => {
      const key = await usedSession();
      const { id } = name === 'authorized' ? backend : browser;
      await vault.request('DELETE', `/applications/${id}`, { key: manager.key });
      await expectSoon(key, 401);
    });

    it(`ends as soon as the application that ${name} it expires`, async () => {
      const key = await usedSession();
      const { id } = name === 'authorized' ? backend : browser;
      await vault.database.run({ text: 'update applications set expires_at = now() where application_id = $1' }, [id]);
      await expectSoon(key, 401);
    });
  }

  it('ends with its tenant', async () => {
    const tenantId = await vault.tenant();
    browser = await vault.application({ type: 'public', tenantId });
    backend = await vault.application({ tenantId });
    const key = await usedSession();
    await vault.internal('DELETE', `/tenants/${tenantId}`);
    await expectSoon(key, 401);
  });

  it('may do nothing while its authorizer could not grant it the same again', async () => {
    const key = await usedSession();
    const put = (permissions: Permission[]) =>
      vault.request('PUT', `/applications/${backend.id}`, { key: manager.key, body: { name: 'x', permissions } });
    await put(['token:create']);
    await expectSoon(key, 403);
    await put(['token:read']);
    await expectSoon(key, 200);
  });

  it('outlives the key that its authorizer used', async () => {
    const { body: second } = await vault.request('POST', `/applications/${backend.id}/keys`, { key: manager.key });
    backend = { ...backend, key: second.key as string };
    const key = await usedSession();
    await vault.request('DELETE', `/applications/${backend.id}/keys/${second.id}`, { key: manager.key });
    await eventually(async () => expect(await statusAtReplica(backend.key)).to.equal(401));
    expect(await statusAtReplica(key)).to.equal(200);
  });

  it('leaves nothing once it is swept, a batch at a time', async () => {
    await vault.database.run({ text: 'delete from sessions' });
    const keys = [await usedSession(), await usedSession(), await usedSession(), await usedSession()];
    await vault.database.run({ text: 'update sessions set expires_at = now() where key_digest <> sha256($1::bytea)' }, [
      Buffer.from(keys[0]!),
    ]);
    expect(await sweepExpiredSessions(vault.database, 2)).to.equal(2);
    expect(await sweepExpiredSessions(vault.database, 2)).to.equal(1);
    expect(await statusAtReplica(keys[0]!)).to.equal(200);
    const [row] = await vault.database.run<{ count: number }>({ text: 'select count(*)::int as count from sessions' });
    expect(row!.count).to.equal(1);
  });
});
