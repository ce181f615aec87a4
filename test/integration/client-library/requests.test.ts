import { randomUUID } from 'node:crypto';
import { BasisTheory, BasisTheoryClient, BasisTheoryError } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

describe('requests of the client library', () => {
  let vault: TestVault;
  let client: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault();
    client = clientOf(vault, (await vault.application()).key);
  });
  after(() => vault.stop());

  it('go to an environment that is an address, as they do to a base URL', async () => {
    const { key } = await vault.application();
    const elsewhere = new BasisTheoryClient({ environment: vault.baseUrl, apiKey: key });
    expect((await elsewhere.tokens.create({ type: 'token', data: 'x' })).type).to.equal('token');
  });

  it('are told all that is wrong with a body, by member', async () => {
    const call = client.tokens.create({ type: 'nonsense', data: 'x', expiresAt: 'tomorrow' });
    const { statusCode, body } = await failureOf(call, BasisTheory.BadRequestError);
    const problem = body as BasisTheory.ValidationProblemDetails;
    expect(statusCode).to.equal(400);
    expect(problem).to.include({ status: 400, title: 'One or more validation errors occurred.' });
    expect(problem.errors).to.have.all.keys('type', 'expires_at');
  });

  for (const [what, status, kind, call] of [
    ['an unknown key', 401, BasisTheory.UnauthorizedError, () => clientOf(vault, 'nonsense').tokens.listV2()],
    ['a missing permission', 403, BasisTheory.ForbiddenError, () => client.applications.list()],
    ['an unknown token', 404, BasisTheory.NotFoundError, () => client.tokens.get(randomUUID())],
    [
      'an unknown token in an expression',
      400,
      BasisTheory.BadRequestError,
      () => client.tokens.detokenize('{{ x-y-z }}'),
    ],
  ] as const) {
    it(`fail with ${status} and a problem for ${what}`, async () => {
      const failure: BasisTheoryError = await failureOf(call(), kind);
      expect(failure.statusCode).to.equal(status);
      expect(failure.body).to.include({ status, type: 'about:blank' }).and.include.keys('title', 'detail', 'instance');
      expect(failure.rawResponse?.headers.get('content-type')).to.equal('application/problem+json');
    });
  }

  it('fail with 409 for an id that is taken', async () => {
    const id = `taken-${randomUUID()}`;
    await client.tokens.create({ id, type: 'token', data: 'x' });
    const failure = await failureOf(client.tokens.create({ id, type: 'token', data: 'y' }), BasisTheoryError);
    expect(failure).to.include({ statusCode: 409 }).and.be.an.instanceOf(BasisTheory.ConflictError);
  });

  it('are done once with an idempotency key, however often they are sent', async () => {
    const idempotencyKey = randomUUID();
    const send = (): PromiseLike<BasisTheory.Token> =>
      client.tokens.create({ type: 'token', data: randomUUID() }, { idempotencyKey });
    const first = await send();
    expect(await send()).to.deep.equal(first);
    expect((await client.tokens.listV2({ fingerprint: first.fingerprint })).data).to.have.length(1);
  });

  it('carry a correlation id, which comes back with answers and failures', async () => {
    const correlationId = `order-${randomUUID()}`;
    const { rawResponse } = await client.tokens
      .create({ type: 'token', data: 'x' }, { correlationId })
      .withRawResponse();
    expect(rawResponse.headers.get('bt-trace-id')).to.equal(correlationId);
    const failure = await failureOf(client.tokens.get(randomUUID(), { correlationId }), BasisTheory.NotFoundError);
    expect(failure.body).to.include({ instance: correlationId });
  });

  it('that are too many are told so, and tried again by the client once there is room', async () => {
    const row = { name: 'one', counter: 'Key', requests: 1, windowSeconds: 1, action: 'Throttle' } as const;
    const tenantId = await vault.tenant({}, { plan: 'Custom', rows: [row] });
    const { key } = await vault.application({ tenantId });
    const patient = new BasisTheoryClient({ baseUrl: vault.baseUrl, apiKey: key, maxRetries: 3 });
    const data = [1, 2, 3];
    const tokens = await Promise.all(data.map((value) => patient.tokens.create({ type: 'token', data: value })));
    expect(new Set(tokens.map(({ id }) => id)).size).to.equal(3);

    const failures = await Promise.allSettled(data.map(() => clientOf(vault, key).tokens.listV2()));
    const refusal = failures.find(({ status }) => status === 'rejected') as { reason: BasisTheoryError } | undefined;
    expect(refusal?.reason).to.be.an.instanceOf(BasisTheoryError).and.include({ statusCode: 429 });
    expect(refusal?.reason.body).to.include({ title: 'Too Many Requests' });
    expect(refusal?.reason.rawResponse?.headers.get('retry-after')).to.match(/^\d+$/);
  });
});
