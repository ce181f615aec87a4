import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { keyIdOf } from '../../../src/keys/envelope.ts';
import { idText } from '../../../src/keys/unwrapped-keys.ts';
import { MOST_UNENDED } from '../../../src/services/reactors/asynchronous/accept.ts';
import { type CallbackEvent, CallbackReceiver } from '../../support/callback-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { invocationIdOf } from '../../support/invocation-id.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = `module.exports = async function ({ args }) {
  if (args.throws) throw new globalThis[args.throws](args.message);
  if (args.custom) throw new CustomHttpResponseError(args.custom);
  return { raw: args.raw, tokenize: args.tokenize };
};`;

describe('running a reactor asynchronously', () => {
  let vault: TestVault;
  let contract: Contract;
  let receiver: CallbackReceiver;
  let manager: TestApplication;
  let user: TestApplication;
  let reactorId: string;
  let secret: string;

  before(async () => {
    receiver = await CallbackReceiver.start();
    vault = await startTestVault({ reactors: true, callbackHttpHosts: [receiver.host] });
    contract = await readContract(vault);
    manager = await vault.application({ type: 'management' });
    user = await vault.application();
    const made = await contract.request('POST', '/reactors', {
      ...{ key: manager.key, body: { name: 'Reactor', code: CODE, configuration: {} } },
    });
    reactorId = made.body.id as string;
    ({ secret } = (await contract.request('GET', '/tenants/self/webhook-secret', { key: manager.key })).body);
  });
  after(async () => {
    await vault.stop();
    await receiver.stop();
  });

  function ask(args: object, overrides: { key?: string; url?: string; headers?: Record<string, string> } = {}) {
    const { key = user.key, url = receiver.url(randomUUID()), headers = {} } = overrides;
    const body = { args, callback_url: url };
    return contract.request('POST', `/reactors/${reactorId}/react`, { key, body, headers });
  }

  function result(id: string, key = user.key, reactor = reactorId): Promise<Answer> {
    return contract.request('GET', `/reactors/${reactor}/results/${id}`, { key });
  }

  async function token(data: Json): Promise<string> {
    const body = { type: 'token', data };
    return (await vault.request('POST', '/tokens', { key: user.key, body })).body.id as string;
  }

  /** Asks, and gives the event that was delivered for it. */
  async function delivered(args: object): Promise<{ id: string; event: CallbackEvent }> {
    const path = randomUUID();
    const accepted = await ask(args, { url: receiver.url(path) });
    expect(accepted.status).to.equal(202);
    const id = invocationIdOf(accepted);
    const { headers, text } = await receiver.next(path);
    expect(headers['webhook-id']).to.equal(id);
    return { id, event: receiver.verify(secret, headers, text) };
  }

  it('answers at once where its result is to be read, and delivers it, signed', async () => {
    const path = randomUUID();
    const { status, headers, body } = await ask({ raw: 1 }, { url: receiver.url(path) });
    expect(status).to.equal(202);
    expect(body).to.equal(undefined);
    const id = invocationIdOf({ headers });
    expect(headers.get('location')).to.equal(`/reactors/${reactorId}/results/${id}`);
    const callback = await receiver.next(path);
    const event = receiver.verify(secret, callback.headers, callback.text);
    expect(event).to.deep.equal({
      type: 'reactor.completed',
      timestamp: event.timestamp,
      data: {
        ...{ request_id: id, reactor_id: reactorId, trace_id: headers.get('svc-trace-id'), status: 200 },
        body: { raw: 1 },
      },
    });
    expect(Date.parse(event.timestamp)).to.be.closeTo(Date.now(), 30_000);
    const read = await result(id);
    expect([read.status, read.body]).to.deep.equal([200, { raw: 1 }]);
  });

  it('gives the code plaintext, and stores what it wants tokenized', async () => {
    const id = await token('plain');
    const { event } = await delivered({ raw: `{{ ${id} }}`, tokenize: { type: 'token', data: 'made' } });
    expect(event.data.body.raw).to.equal('plain');
    const made = await vault.request('GET', `/tokens/${event.data.body.tokens.id}`, { key: user.key });
    expect(made.status).to.equal(200);
  });

  for (const [name, args, status, type] of [
    ['an error of a class', { throws: 'InvalidPaymentMethodError', message: 'declined' }, 402, 'reactor.failed'],
    ['any other error', { throws: 'Error', message: 'x' }, 500, 'reactor.failed'],
    [
      'an answer of its own',
      { custom: { status: 201, headers: { 'X-A': 'b' }, body: { c: 1 } } },
      201,
      'reactor.completed',
    ],
  ] as const) {
    it(`delivers ${name} with its status, and gives it as the result`, async () => {
      const { id, event } = await delivered(args);
      expect([event.type, event.data.status]).to.deep.equal([type, status]);
      const read = await result(id);
      expect([read.status, read.body]).to.deep.equal([status, event.data.body]);
      if (status === 201) {
        expect(event.data.headers).to.deep.equal({ 'X-A': 'b' });
        expect(read.headers.get('x-a')).to.equal('b');
      }
    });
  }

  it('shows the result to nobody but the application that asked', async () => {
    const { id } = await delivered({ raw: 1 });
    const other = await vault.application({ tenantId: user.tenantId });
    const stranger = await vault.application({ tenantId: await vault.tenant() });
    const unknown = await result(randomUUID());
    expect(unknown.status).to.equal(404);
    for (const { key } of [other, stranger]) {
      const { status, body } = await result(id, key);
      expect([status, body.detail]).to.deep.equal([404, unknown.body.detail]);
    }
    expect((await result(id, user.key, randomUUID())).status).to.equal(404);
    expect((await result(id, manager.key)).status).to.equal(403);
  });

  it('refuses at once what a caller who waits is refused for', async () => {
    const before = await vault.database.run({ text: 'select from reactor_invocations' });
    expect((await ask({ a: `{{ ${randomUUID()} }}` })).body.errors).to.have.all.keys('args.a');
    const ids = Array.from({ length: 101 }, () => `{{ ${randomUUID()} }}`);
    expect((await ask({ ids })).body.errors).to.deep.equal({ args: ['must not name more than 100 tokens'] });
    const big = await token('x'.repeat(600_000));
    expect((await ask({ a: `{{ ${big} }}`, b: `{{ ${big} }}` })).status).to.equal(413);
    const limited = await vault.application({
      tenantId: user.tenantId,
      rules: [{ priority: 1, container: '/pci/', transform: 'redact', permissions: ['token:use'], description: 'x' }],
    });
    expect((await ask({ a: `{{ ${await token('x')} }}` }, { key: limited.key })).status).to.equal(403);
    expect((await ask({}, { key: manager.key })).status).to.equal(403);
    const nowhere = { key: user.key, body: { callback_url: receiver.url('x') } };
    expect((await contract.request('POST', `/reactors/${randomUUID()}/react`, nowhere)).status).to.equal(404);
    expect(await vault.database.run({ text: 'select from reactor_invocations' })).to.have.length(before.length);
  });

  for (const url of [
    ...['', 'nowhere', '/relative', 'ftp://example.com/', 'javascript:alert(1)', 'http://example.com/'],
    ...['https://user:secret@example.com/', 'https://example.com/#part', `https://example.com/${'x'.repeat(2_000)}`],
    // The host that is named has another port.
    'http://127.0.0.1:1/',
  ]) {
    it(`refuses the callback URL ${JSON.stringify(url.slice(0, 40))}`, async () => {
      const { status, body } = await ask({}, { url });
      expect(status).to.equal(400);
      expect(body.errors).to.have.all.keys('callback_url');
      expect(JSON.stringify(body)).not.to.include('secret');
    });
  }

  it('is not for sessions', async () => {
    const open = await vault.application({ tenantId: user.tenantId, type: 'public' });
    const session = (await vault.request('POST', '/sessions', { key: open.key })).body;
    const rule = { priority: 1, container: '/', transform: 'reveal', description: 'All' } as const;
    const grant = {
      ...{ nonce: session.nonce, rules: [{ ...rule, permissions: ['token:use'] }] },
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    };
    const { key } = await vault.application({
      ...{ tenantId: user.tenantId, rules: [{ ...rule, permissions: ['token:use', 'token:create'] }] },
    });
    const authorized = await vault.request('POST', '/sessions/authorize', { key, body: grant });
    expect(authorized.status, JSON.stringify(authorized.body)).to.equal(200);
    expect((await ask({}, { key: session.session_key as string })).status).to.equal(403);
  });

  it('is accepted once under one idempotency key', async () => {
    const [path, headers] = [randomUUID(), { 'svc-idempotency-key': randomUUID() }];
    const url = receiver.url(path);
    const [first, second] = [await ask({ raw: 1 }, { url, headers }), await ask({ raw: 2 }, { url, headers })];
    expect(second.status).to.equal(202);
    expect(second.headers.get('svc-idempotent-replayed')).to.equal('true');
    expect(second.headers.get('location')).to.equal(first.headers.get('location'));
    await receiver.next(path);
    const rows = await vault.database.run({ text: 'select from reactor_invocations where invocation_id = $1' }, [
      invocationIdOf(first),
    ]);
    expect(rows).to.have.length(1);
    const other = invocationIdOf(await ask({}, { url: receiver.url(randomUUID()) }));
    await eventually(async () => expect((await result(other)).status).to.equal(200));
    expect(receiver.received(path)).to.have.length(1);
  });

  it('is refused for a while where too many of the tenant have not ended', async () => {
    await vault.database.run(
      {
        text: `insert into reactor_invocations
            (tenant_id, invocation_id, reactor_id, application_id, trace_id, state, sealed_format)
          select $1, gen_random_uuid(), $2, $3, 'filler', 'waiting', 1 from generate_series(1, $4::integer)`,
      },
      [user.tenantId, reactorId, user.id, MOST_UNENDED],
    );
    const refused = await ask({});
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '1']);
    await vault.database.run({ text: `delete from reactor_invocations where trace_id = 'filler'` });
    expect((await ask({})).status).to.equal(202);
  });

  it('acts with what the application may do when the code runs', async () => {
    const asker = await vault.application({ tenantId: user.tenantId });
    const id = await token('secret');
    const path = randomUUID();
    // Held back until its access is gone.
    await holdBack();
    await ask({ raw: `{{ ${id} }}` }, { key: asker.key, url: receiver.url(path) });
    await vault.internal('PUT', `/tenants/${asker.tenantId}/applications/${asker.id}`, {
      ...{ name: 'less', type: 'private', permissions: ['token:create'], rules: [], keys: [] },
    });
    await letGo();
    const { headers, text } = await receiver.next(path);
    const event = receiver.verify(secret, headers, text);
    expect([event.type, event.data.status]).to.deep.equal(['reactor.failed', 403]);
    expect(text).not.to.include('"secret"');
  });

  it('answers with an error where the application that asked is gone', async () => {
    const asker = await vault.application({ tenantId: user.tenantId });
    const path = randomUUID();
    await holdBack();
    await ask({ raw: 'private' }, { key: asker.key, url: receiver.url(path) });
    await vault.request('DELETE', `/applications/${asker.id}`, { key: manager.key });
    await letGo();
    const { headers, text } = await receiver.next(path);
    const event = receiver.verify(secret, headers, text);
    expect(event.data.status).to.equal(422);
    expect(text).not.to.include('private');
  });

  it('keeps results for 24 hours after the code has ended', async () => {
    const { id } = await delivered({ raw: 1 });
    const [row] = await vault.database.run<{ hours: number; args: null; state: string }>(
      {
        text: `select extract(epoch from expires_at - ended_at)::float8 / 3600 as hours, args
          from reactor_invocations where invocation_id = $1`,
      },
      [id],
    );
    expect(row).to.deep.equal({ hours: 24, args: null });
    const past = `update reactor_invocations set expires_at = now() where invocation_id = $1`;
    await vault.database.run({ text: past }, [id]);
    expect((await result(id)).status).to.equal(404);
  });

  it('keeps what may hold a card verification code no longer than the code, under a key that goes with it', async () => {
    const data = { number: '4242424242424242', expiration_month: 1, expiration_year: 2031, cvc: '123' };
    const made = await vault.request('POST', '/tokens', { key: user.key, body: { type: 'card', data } });
    for (const [raw, purpose, seconds] of [
      [`{{ ${made.body.id} }}`, 'cvc', 3_600],
      ['{{ ' + (await token('no code')) + ' }}', 'data', 24 * 3_600],
    ] as const) {
      const { id, event } = await delivered({ raw });
      if (purpose === 'cvc') expect(event.data.body.raw).to.deep.equal(data);
      const [row] = await vault.database.run<{ seconds: number; result: Buffer; sealedFormat: number }>(
        {
          text: `select extract(epoch from expires_at - ended_at)::float8 as seconds, result,
              sealed_format as "sealedFormat"
            from reactor_invocations where invocation_id = $1`,
        },
        [id],
      );
      expect(row!.seconds).to.equal(seconds);
      const place = { tenantId: user.tenantId, table: 'reactor_invocations', rowId: id, column: 'result', version: '' };
      const keyId = idText(keyIdOf({ place, format: row!.sealedFormat, sealed: row!.result }));
      const keys = await vault.database.run(
        { text: 'select purpose from data_keys where tenant_id = $1 and data_key_id = $2' },
        [user.tenantId, keyId],
      );
      expect(keys).to.deep.equal([{ purpose }]);
      expect((await result(id)).status).to.equal(200);
    }
  });

  // Workers cannot claim then, and everything else goes on.
  async function holdBack(): Promise<void> {
    await vault.database.run({ text: 'revoke update (lease) on reactor_invocations from tokenkeep_sweeper' });
  }
  async function letGo(): Promise<void> {
    await vault.database.run({ text: 'grant update (lease) on reactor_invocations to tokenkeep_sweeper' });
  }
});
