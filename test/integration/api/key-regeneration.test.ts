import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('regenerating an application’s key', () => {
  let vault: TestVault;
  let replica: { baseUrl: string; stop(): Promise<void> };
  let contract: Contract;
  let manager: TestApplication;
  let application: { id: string; key: string; keys: { id: string }[] };

  before(async () => {
    vault = await startTestVault();
    replica = await startReplica(vault);
    contract = await readContract(vault);
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });
  beforeEach(async () => {
    manager = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    const body = { name: 'Checkout', type: 'private', permissions: ['token:read'] };
    application = (await send('POST', '/applications', body)).body;
  });

  const send = (method: string, path: string, body?: object, headers = {}) =>
    contract.request(method, path, { key: manager.key, headers, ...(body ? { body } : {}) });
  const regenerate = (id = application.id, headers = {}) =>
    send('POST', `/applications/${id}/regenerate`, undefined, headers);
  const use = async (key: string, baseUrl = vault.baseUrl) =>
    (await fetch(`${baseUrl}/tokens`, { headers: { 'svc-api-key': key } })).status;

  it('gives it another one in the place of the old one, which stops at once', async () => {
    expect(await use(application.key)).to.equal(200);
    const { status, body } = await regenerate();
    expect([status, body.id, body.name]).to.deep.equal([200, application.id, 'Checkout']);
    expect(body.keys).to.have.length(1);
    expect(body.keys[0].id).not.to.equal(application.keys[0]!.id);
    expect([await use(body.key), await use(application.key)]).to.deep.equal([200, 401]);
    expect((await send('GET', `/applications/${application.id}`)).body.keys).to.deep.equal(body.keys);
  });

  it('stops the old one on every replica within a second', async () => {
    expect(await use(application.key, replica.baseUrl)).to.equal(200);
    await regenerate();
    await eventually(async () => expect(await use(application.key, replica.baseUrl)).to.equal(401), {
      deadlineMs: 1_000,
    });
  });

  it('is logged as the end of one key and the beginning of another', async () => {
    const { body } = await regenerate();
    const { body: logs } = await send('GET', '/logs?entity_type=application_key');
    const entries = (logs.data as { operation: string; entity_id: string; actor_id: string }[])
      .filter(({ entity_id: id }) => [application.keys[0]!.id, body.keys[0].id].includes(id))
      .map(({ operation, entity_id: id, actor_id: actor }) => `${operation} ${id} ${actor}`);
    expect(entries).to.include.members([
      `delete ${application.keys[0]!.id} ${manager.id}`,
      `create ${body.keys[0].id} ${manager.id}`,
    ]);
  });

  it('is refused with two keys, which both go on working', async () => {
    const { body: second } = await send('POST', `/applications/${application.id}/keys`);
    const { status, body } = await regenerate();
    expect(status).to.equal(422);
    expect(body.detail).to.include('exactly one key');
    expect([await use(application.key), await use(second.key)]).to.deep.equal([200, 200]);
  });

  it('is refused without a key', async () => {
    await send('DELETE', `/applications/${application.id}/keys/${application.keys[0]!.id}`);
    expect((await regenerate()).status).to.equal(422);
  });

  it('is refused where a resource declares the key: it would be put back', async () => {
    const declared = await vault.application({ tenantId: manager.tenantId });
    const { status, body } = await regenerate(declared.id);
    expect(status).to.equal(422);
    expect(body.detail).to.include('declares');
    expect(await use(declared.key)).to.equal(200);
  });

  it('leaves one key where many do so at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => regenerate()));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    const working = await Promise.all(answers.map(({ body }) => use(body.key as string)));
    expect(working.filter((status) => status === 200)).to.have.length(1);
  });

  it('is done once under an idempotency key', async () => {
    const headers = { 'svc-idempotency-key': randomUUID() };
    const { body } = await regenerate(application.id, headers);
    expect((await regenerate(application.id, headers)).body).to.deep.equal(body);
    expect(await use(body.key)).to.equal(200);
  });

  it('takes the permission, and an application of the tenant', async () => {
    const reader = await vault.application({
      type: 'management',
      tenantId: manager.tenantId,
      permissions: ['application:read'],
    });
    const path = `/applications/${application.id}/regenerate`;
    expect((await vault.request('POST', path, { key: reader.key })).status).to.equal(403);
    const stranger = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    expect((await vault.request('POST', path, { key: stranger.key })).status).to.equal(404);
    expect((await regenerate(randomUUID())).status).to.equal(404);
    expect(await use(application.key)).to.equal(200);
  });

  describe('is deprecated', () => {
    const headersOf = (headers: Headers) => ['deprecation', 'sunset', 'link'].map((name) => headers.get(name));
    const announced = (id: string) => [
      '@1713312000',
      'Thu, 17 Oct 2024 00:00:00 GMT',
      `</applications/${id}/keys>; rel="successor-version"`,
    ];

    it('as every answer says, errors too', async () => {
      const path = `/applications/${application.id}/regenerate`;
      const answers = [
        await regenerate(),
        await vault.request('POST', path),
        await vault.request('POST', path, { key: (await vault.application()).key }),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 401, 403]);
      for (const { headers } of answers) expect(headersOf(headers)).to.deep.equal(announced(application.id));
    });

    it('with a link that holds an id as it may stand in one', async () => {
      const { status, headers } = await regenerate('a%3E%22b');
      expect(status).to.equal(404);
      expect(headersOf(headers)).to.deep.equal(announced('a%3E%22b'));
    });

    it('as the document says, and says of nothing else that is served', () => {
      const deprecated = contract.operations.filter(
        (one) => 'deprecated' in one.operation && !contract.unservedOperations.includes(one),
      );
      expect(deprecated.map(({ path }) => path)).to.deep.equal(['/applications/{id}/regenerate']);
      for (const [status, response] of Object.entries(deprecated[0]!.operation.responses)) {
        // HTTP refuses such requests itself, before it is known what they are for.
        if (status === '431') continue;
        expect(contract.headersOf(response), status).to.include.keys('Deprecation', 'Sunset', 'Link');
      }
    });

    it('as others are not', async () => {
      const { headers } = await send('GET', '/applications');
      expect(headersOf(headers)).to.deep.equal([null, null, null]);
    });
  });
});
