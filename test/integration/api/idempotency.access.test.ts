import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AccessRule, Transform } from '../../../src/domain/access.ts';
import type { Permission } from '../../../src/domain/permissions.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CARD = { type: 'card', data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 } };

function rule(transform: Transform, permissions: Permission[] = ['token:create']): AccessRule {
  return { priority: 1, container: '/pci/', transform, permissions };
}

describe('who gets an answer again under an idempotency key', () => {
  let vault: TestVault;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault();
    manager = await vault.application({ type: 'management' });
  });
  after(() => vault.stop());

  const stored = async () =>
    vault.database.run<{ row: string }>({ text: 'select a::text as row from idempotent_answers a' });

  async function change(application: TestApplication, access: { permissions?: Permission[]; rules?: AccessRule[] }) {
    const body = { name: 'changed', ...access };
    const { status } = await vault.request('PUT', `/applications/${application.id}`, { key: manager.key, body });
    expect(status).to.equal(200);
  }

  const send = (application: TestApplication, path: string, key: string, body: object) =>
    vault.request('POST', path, { key: application.key, headers: { 'svc-idempotency-key': key }, body });

  it('is nobody with a bad key', async () => {
    const application = await vault.application();
    const key = randomUUID();
    await send(application, '/tokens', key, CARD);
    expect((await send({ ...application, key: 'key_prod_pvt_x' }, '/tokens', key, CARD)).status).to.equal(401);
  });

  it('is none who has lost the permission of the operation', async () => {
    const application = await vault.application();
    const key = randomUUID();
    const first = await send(application, '/tokens', key, CARD);
    await change(application, { permissions: ['token:read'] });
    const { status, body } = await send(application, '/tokens', key, CARD);
    expect([status, body.detail]).to.deep.equal([403, 'The application does not have the permission token:create.']);
    expect(JSON.stringify(body)).not.to.include(first.body.id);
  });

  it('is none whose access has been narrowed since: it could see what it may not see any more', async () => {
    const application = await vault.application({ rules: [rule('mask')] });
    const key = randomUUID();
    const first = await send(application, '/tokens', key, CARD);
    expect(first.body.data.number).to.equal('XXXXXXXXXXXX4242');
    await change(application, { rules: [rule('redact')] });
    const { status, body } = await send(application, '/tokens', key, CARD);
    expect(status).to.equal(403);
    expect(body.detail).to.include('narrowed');
    expect(JSON.stringify(body)).not.to.include('42424242').and.not.to.include('XXXX');
  });

  it('is one whose access is the same, or has been widened', async () => {
    const application = await vault.application({ rules: [rule('mask')] });
    const key = randomUUID();
    const first = await send(application, '/tokens', key, CARD);
    expect((await send(application, '/tokens', key, CARD)).body).to.deep.equal(first.body);
    await change(application, { rules: [rule('reveal', ['token:create', 'token:read'])] });
    expect((await send(application, '/tokens', key, CARD)).body).to.deep.equal(first.body);
  });

  it('is one with another key of the same application', async () => {
    const application = await vault.application();
    const key = randomUUID();
    const first = await send(application, '/tokens', key, CARD);
    const made = await vault.request('POST', `/applications/${application.id}/keys`, { key: manager.key });
    const again = await send({ ...application, key: made.body.key }, '/tokens', key, CARD);
    expect(again.body).to.deep.equal(first.body);
  });

  it('is no other session of the application: each has keys of its own', async () => {
    const { tenantId } = await vault.application();
    const browser = await vault.application({ type: 'public', tenantId });
    const backend = await vault.application({ tenantId, rules: [rule('mask')] });
    const session = async () => {
      const { body } = await vault.request('POST', '/sessions', { key: browser.key });
      const grant = { nonce: body.nonce, rules: [rule('mask')] };
      const { status } = await vault.request('POST', '/sessions/authorize', { key: backend.key, body: grant });
      expect(status).to.equal(200);
      return { ...browser, key: body.session_key as string };
    };
    const [mine, other] = [await session(), await session()];
    const key = randomUUID();
    const first = await send(mine, '/tokens', key, CARD);
    expect(first.status).to.equal(201);
    for (const caller of [other, browser]) {
      const { status, body } = await send(caller, '/tokens', key, CARD);
      expect([status, body.id]).not.to.include(first.body.id);
      expect(status).to.equal(201);
    }
    expect((await send(mine, '/tokens', key, CARD)).body).to.deep.equal(first.body);
  });

  it('finds nothing of it in the database: neither answer nor key', async () => {
    const application = await vault.application();
    const canary = `canary-${randomUUID()}`;
    const { status } = await send(application, '/tokens', canary, {
      type: 'token',
      data: 1,
      metadata: { note: canary },
    });
    expect(status).to.equal(201);
    const rows = (await stored()).map(({ row }) => row).join('\n');
    expect(rows).to.include(application.id);
    for (const text of [canary, Buffer.from(canary).toString('hex')]) expect(rows).not.to.include(text);
  });

  it('finds no answer that another row’s was put in the place of', async () => {
    const application = await vault.application();
    const keys = [randomUUID(), randomUUID()];
    for (const key of keys) await send(application, '/tokens', key, CARD);
    const before = (await stored()).length;
    await vault.database.run(
      {
        text: `
        update idempotent_answers a set answer = b.answer from idempotent_answers b
        where a.owner_id = $1 and b.owner_id = $1 and a.claim <> b.claim`,
      },
      [application.id],
    );
    for (const key of keys) {
      const { status, body } = await send(application, '/tokens', key, CARD);
      expect(status).to.equal(409);
      expect(body.detail).to.match(/succeeded; the answer that was kept of it is damaged/);
    }
    expect(await stored()).to.have.length(before);
  });

  it('is told no plaintext of a token that is gone: an update that shows it is not kept, a masked one is', async () => {
    for (const [transform, kept] of [
      ['reveal', 0],
      ['mask', 1],
    ] as const) {
      const application = await vault.application({ rules: [rule(transform, ['token:create', 'token:update'])] });
      const { body: token } = await vault.request('POST', '/tokens', { key: application.key, body: CARD });
      const before = (await stored()).length;
      const { status } = await vault.request('PATCH', `/tokens/${token.id}`, {
        key: application.key,
        headers: { 'svc-idempotency-key': randomUUID() },
        body: { metadata: { note: 'n' } },
      });
      expect(status).to.equal(200);
      expect((await stored()).length - before).to.equal(kept);
    }
  });

  it('is told no card verification code again: an answer that shows one is not kept', async () => {
    const application = await vault.application({ rules: [rule('reveal', ['token:create', 'token:update'])] });
    const body = { ...CARD, data: { ...CARD.data, cvc: '123' } };
    const { body: token } = await vault.request('POST', '/tokens', { key: application.key, body });
    const key = randomUUID();
    const patch = (note: string) =>
      vault.request('PATCH', `/tokens/${token.id}`, {
        key: application.key,
        headers: { 'svc-idempotency-key': key },
        body: { metadata: { note } },
      });
    const before = (await stored()).length;
    for (const note of ['first', 'second']) {
      const { status, body: patched } = await patch(note);
      expect([status, patched.data.cvc, patched.metadata.note]).to.deep.equal([200, '123', note]);
    }
    expect((await stored()).length).to.equal(before);
  });

  it('is never told plaintext again: reading operations keep nothing', async () => {
    const application = await vault.application({
      rules: [rule('reveal', ['token:create', 'token:read', 'token:delete', 'token:search'])],
    });
    const { body: token } = await vault.request('POST', '/tokens', { key: application.key, body: CARD });
    const before = (await stored()).length;
    const key = randomUUID();
    const detokenize = () => send(application, '/detokenize', key, { number: `{{ ${token.id} | json: '$.number' }}` });
    expect((await detokenize()).body).to.deep.equal({ number: CARD.data.number });
    for (const path of ['/tokens/search', '/v2/tokens/search']) {
      expect((await send(application, path, key, { query: 'type:card' })).status).to.equal(200);
    }
    expect((await stored()).length).to.equal(before);
    await vault.request('DELETE', `/tokens/${token.id}`, { key: application.key });
    expect((await detokenize()).status).to.equal(400);
  });
});
