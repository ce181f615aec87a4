import { expect } from 'chai';
import { createLogger } from '../../../src/platform/logger.ts';
import { eventually } from '../../support/eventually.ts';
import {
  newCard,
  putSealed,
  reactorCode,
  REACTOR_IDS,
  sealedIn,
  sealedTenant,
  type SealedTenant,
  TOKEN_IDS,
} from '../../support/sealed-vault.ts';
import { startTestVault, type Answer, type TestVault } from '../../support/vault.ts';

const [DAMAGED, WHOLE] = TOKEN_IDS;
const [DAMAGED_REACTOR, WHOLE_REACTOR] = REACTOR_IDS;
const EXPRESSION = `{{ ${DAMAGED} | json: "$.number" }}`;
const WHOLE_EXPRESSION = `{{ ${WHOLE} | json: "$.number" }}`;

describe('what is stored, damaged', function () {
  this.timeout(60_000);

  let vault: TestVault;
  let tenant: SealedTenant;
  let logged = '';

  before(async () => {
    const destination = { write: (line: string) => void (logged += line) };
    vault = await startTestVault({
      reactors: true,
      logger: createLogger({ level: 'warn', format: 'json', destination }),
    });
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenant = await sealedTenant(vault);
    logged = '';
  });

  const send = (method: string, path: string, body?: object): Promise<Answer> =>
    vault.request(method, path, {
      key: path.startsWith('/reactors') && !path.endsWith('/react') ? tenant.adminKey : tenant.key,
      ...(body ? { body } : {}),
    });

  async function damage(name: 'data' | 'mask' | 'cvc' | 'code' | 'configuration'): Promise<void> {
    const sealed = await sealedIn(vault, name, tenant);
    sealed[sealed.length - 20]! ^= 1;
    await putSealed(vault, name, tenant, sealed);
  }

  /** Messages of entries about one thing, newest first. */
  async function entriesOf(id: string): Promise<string[]> {
    const rows = await vault.database.run<{ message: string }>(
      {
        text: `
          select operation || ': ' || message as message from logs where tenant_id = $1 and entity_id = $2
          order by created_at desc, log_id desc`,
      },
      [tenant.tenantId, id],
    );
    return rows.map(({ message }) => message);
  }

  for (const column of ['data', 'mask', 'cvc'] as const) {
    it(`names the token whose ${column} it is, and is no fault of the service`, async () => {
      await damage(column);
      const { status, body } = await send('GET', `/tokens/${DAMAGED}`);
      expect(status).to.equal(422);
      expect(body).to.include({ title: 'Unprocessable Content' });
      expect(body.detail).to.equal(
        `What is stored of the token ${DAMAGED} is damaged and was refused; an operator is to restore it from a backup.`,
      );
      expect((await send('GET', `/tokens/${WHOLE}`)).status).to.equal(200);
    });
  }

  for (const [operation, method, path, body] of [
    ['read', 'GET', `/tokens/${DAMAGED}`, undefined],
    ['update', 'PATCH', `/tokens/${DAMAGED}`, { metadata: { a: 'b' } }],
    ['detokenize', 'POST', '/detokenize', { a: EXPRESSION, b: WHOLE_EXPRESSION }],
    ['detokenize', 'POST', '/detokenize', { tokens: [WHOLE, DAMAGED] }],
    ['use', 'POST', `/reactors/${WHOLE_REACTOR}/react`, { args: { a: EXPRESSION, b: WHOLE_EXPRESSION } }],
  ] as const) {
    it(`refuses ${method} ${path} whole, and logs who wanted it: ${operation}`, async () => {
      await damage('data');
      const before = await entriesOf(WHOLE);
      const { status, body: problem } = await send(method, path, body);
      expect(status).to.equal(422);
      expect(problem.detail).to.include(`the token ${DAMAGED} is damaged`);
      const past = { read: 'read', update: 'updated', detokenize: 'detokenized', use: 'used' }[operation];
      expect(await entriesOf(DAMAGED)).to.deep.equal([
        `${operation}: refused as damaged: card ${past}`,
        'create: card created',
      ]);
      // Nothing of the other one was shown, so that no entry says so.
      expect(await entriesOf(WHOLE)).to.deep.equal(before);
    });
  }

  it('is told the operator once for each refusal, with what is to be restored', async () => {
    await damage('mask');
    await send('GET', `/tokens/${DAMAGED}`);
    const [line] = logged
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(line).to.include({
      level: 'error',
      table: 'tokens',
      column: 'mask',
      rowId: DAMAGED,
      tenantId: tenant.tenantId,
    });
    expect(line!['message']).to.match(/Restore the row from a backup/);
    expect(logged.trim().split('\n')).to.have.length(1);
  });

  it('is deleted as anything else', async () => {
    await damage('data');
    expect((await send('DELETE', `/tokens/${DAMAGED}`)).status).to.equal(204);
    expect((await send('GET', `/tokens/${DAMAGED}`)).status).to.equal(404);
    expect((await entriesOf(DAMAGED))[0]).to.equal('delete: card deleted');
  });

  for (const [operation, method, path, query] of [
    ['read', 'GET', '/tokens', undefined],
    ['read', 'GET', '/v2/tokens', undefined],
    ['search', 'POST', '/tokens/search', { query: 'type:card' }],
    ['search', 'POST', '/v2/tokens/search', { query: 'type:card' }],
  ] as const) {
    it(`is on its page, and said to be damaged, among all others: ${method} ${path}`, async () => {
      await damage('data');
      const { status, body } = await send(method, path, query);
      expect(status).to.equal(200);
      const tokens = body.data as Record<string, unknown>[];
      const [damaged, whole] = TOKEN_IDS.map((id) => tokens.find((token) => token['id'] === id)!);
      expect(damaged).to.include({ type: 'card', damaged: true }).and.not.to.have.any.keys('data', 'mask', 'metadata');
      expect(whole).to.have.property('data');
      expect(whole).not.to.have.property('damaged');
      const [entry] = await entriesOf(DAMAGED);
      expect(entry).to.match(new RegExp(`^${operation}: refused as damaged: card `));
      expect((await entriesOf(WHOLE))[0]).to.match(new RegExp(`^${operation}: card `));
    });
  }

  it('takes the place of no new token, in a payload or by itself, and nothing is stored', async () => {
    const data = newCard().number;
    const body = { type: 'card_number', data, deduplicate_token: true };
    const { body: stored } = await send('POST', '/tokens', body);
    await vault.database.run(
      { text: 'update tokens set data = mask, mask = data where tenant_id = $1 and token_id = $2' },
      [tenant.tenantId, stored.id],
    );
    const countTokens = async () => (await send('GET', '/tokens')).body.pagination.total_items as number;
    const before = await countTokens();
    for (const [path, payload] of [
      ['/tokens', body],
      ['/tokenize', { first: 'another', second: body }],
    ] as const) {
      const { status, body: problem } = await send('POST', path, payload);
      expect(status, path).to.equal(422);
      expect(problem.detail).to.include(`the token ${stored.id}`);
    }
    expect(await countTokens()).to.equal(before);
    expect((await send('DELETE', `/tokens/${stored.id}`)).status).to.equal(204);
    expect((await send('POST', '/tokens', body)).status).to.equal(201);
  });

  for (const column of ['code', 'configuration'] as const) {
    it(`is a reactor that neither runs nor shows itself: ${column}`, async () => {
      await damage(column);
      const path = `/reactors/${DAMAGED_REACTOR}`;
      for (const [operation, method, at, body] of [
        ['read: refused as damaged: reactor read', 'GET', path, undefined],
        ['update: refused as damaged: reactor updated', 'PATCH', path, { name: 'x' }],
        ['react: refused as damaged: reactor invoked', 'POST', `${path}/react`, { args: {} }],
      ] as const) {
        const { status, body: problem } = await send(method, at, body);
        expect(status, at).to.equal(422);
        expect(problem.detail).to.include(`the reactor ${DAMAGED_REACTOR}`);
        expect((await entriesOf(DAMAGED_REACTOR))[0]).to.equal(operation);
      }
      const { body } = await send('GET', '/reactors');
      const [damaged, whole] = REACTOR_IDS.map((id) => (body.data as { id: string }[]).find((one) => one.id === id)!);
      expect(damaged).to.include({ damaged: true }).and.not.to.have.any.keys('code', 'configuration');
      expect(whole).to.include.keys('code', 'configuration');
    });
  }

  it('keeps no other reactor from running', async () => {
    await damage('code');
    const { body } = await vault.internal('GET', '/reactors');
    const ofTenant = (listed: { tenantId: string; reactorId: string }[]) =>
      listed.filter(({ tenantId }) => tenantId === tenant.tenantId);
    expect(ofTenant(body.data).map(({ reactorId }) => reactorId)).to.deep.equal([WHOLE_REACTOR]);
    // Whoever runs reactors would take it for deleted.
    expect(ofTenant(body.damaged)).to.deep.equal([{ tenantId: tenant.tenantId, reactorId: DAMAGED_REACTOR }]);
    await eventually(
      async () => {
        expect((await send('POST', `/reactors/${WHOLE_REACTOR}/react`, { args: {} })).body).to.deep.equal({ raw: '1' });
      },
      { deadlineMs: 30_000 },
    );
  });

  it('is whole again once it has been put, by a caller or by its declaration', async () => {
    const path = `/reactors/${DAMAGED_REACTOR}`;
    await damage('configuration');
    const put = { name: 'put', code: reactorCode('put'), configuration: {} };
    expect((await send('PUT', path, put)).status).to.equal(200);
    expect((await send('GET', path)).body).to.deep.include(put);
    const declaration = {
      ...{ ...put, timeoutSeconds: 30, memoryBytes: 256 * 2 ** 20 },
      scaling: (await vault.internal('GET', '/reactors')).body.data[0].scaling as object,
    };
    const declare = () => vault.internal('PUT', `/tenants/${tenant.tenantId}${path}`, declaration);
    await declare();
    expect((await declare()).body).to.deep.equal({ changed: false });
    await damage('code');
    expect((await declare()).body).to.deep.equal({ changed: true });
    expect((await send('GET', path)).body).to.include({ code: put.code });
  });

  it('shows nothing where the refusal cannot be logged', async () => {
    await damage('data');
    await vault.database.run({ text: 'alter table logs rename to logs_away' });
    try {
      expect((await send('GET', `/tokens/${DAMAGED}`)).status).to.equal(503);
    } finally {
      await vault.database.run({ text: 'alter table logs_away rename to logs' });
    }
    expect((await send('GET', `/tokens/${DAMAGED}`)).status).to.equal(422);
  });
});
