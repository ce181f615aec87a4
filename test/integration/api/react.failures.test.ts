import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DEFAULT_SCALING, REACTOR_DEFAULTS } from '../../../src/domain/declarations.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('failures of a reactor that is run over the API', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;
  let user: TestApplication;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    contract = await readContract(vault);
    manager = await vault.application({ type: 'management' });
    user = await vault.application();
  });
  after(() => vault.stop());

  async function reactor(code: string): Promise<string> {
    const { status, body } = await contract.request('POST', '/reactors', {
      ...{ key: manager.key, body: { name: 'Reactor', code, configuration: {} } },
    });
    expect(status).to.equal(201);
    return body.id as string;
  }

  /** A reactor whose invocations end after a second. */
  async function hastyReactor(code: string): Promise<string> {
    const id = randomUUID();
    const { status } = await vault.internal('PUT', `/tenants/${user.tenantId}/reactors/${id}`, {
      ...{ name: 'Hasty', code, configuration: {}, scaling: DEFAULT_SCALING },
      ...REACTOR_DEFAULTS,
      timeoutSeconds: 1,
    });
    expect(status).to.equal(200);
    return id;
  }

  function react(id: string, args: object = {}): Promise<Answer> {
    return contract.request('POST', `/reactors/${id}/react`, { key: user.key, body: { args } });
  }

  for (const [name, status] of [
    ['AuthenticationError', 401],
    ['InvalidPaymentMethodError', 402],
    ['AuthorizationError', 403],
    ['BadRequestError', 400],
    ['RateLimitError', 429],
    ['ReactorRuntimeError', 500],
    ['ServiceUnavailableError', 503],
  ] as const) {
    it(`answer ${status} for ${name}`, async () => {
      const id = await reactor(`module.exports = async () => { throw new ${name}({ field: ['is wrong'] }); };`);
      const answer = await react(id);
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('content-type')).to.equal('application/problem+json');
      expect(answer.body).to.deep.include({ status, errors: { field: ['is wrong'] } });
      expect(answer.body.instance).to.equal(answer.headers.get('svc-trace-id'));
      expect(answer.headers.has('retry-after')).to.equal(status === 429 || status === 503);
    });
  }

  it('pass on what the code answers by itself, but not how the connection is kept, nor what the API says of itself', async () => {
    const id = await reactor(`module.exports = async () => {
      throw new CustomHttpResponseError({
        status: 418,
        headers: { 'X-Custom': 'yes', 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked',
          'Content-Length': '3', Connection: 'upgrade', 'Content-Encoding': 'gzip', 'SVC-TRACE-ID': 'mine',
          'Cache-Control': 'max-age=5' },
        body: 'short and stout',
      });
    };`);
    const { status, headers, body } = await vault.request('POST', `/reactors/${id}/react`, {
      key: user.key,
      body: {},
    });
    expect([status, body]).to.deep.equal([418, 'short and stout']);
    expect(headers.get('x-custom')).to.equal('yes');
    expect(headers.get('content-type')).to.equal('text/plain');
    expect(headers.get('cache-control')).to.equal('max-age=5');
    expect(headers.get('connection')).not.to.equal('upgrade');
    expect(headers.has('content-encoding')).to.equal(false);
    expect(headers.get('svc-trace-id')).to.have.lengthOf(36);
  });

  it('tell nothing of what any other throw says', async () => {
    const id = await reactor('module.exports = async ({ args }) => { throw new Error("saw " + args.secret); };');
    const { status, body } = await react(id, { secret: 'canary-4242' });
    expect(status).to.equal(500);
    expect(JSON.stringify(body)).not.to.include('canary').and.not.to.include('saw');
  });

  it('answer 504 where the code takes too long, and the next run goes well', async () => {
    const id = await hastyReactor(
      'module.exports = async ({ args }) => { if (args.hang) await new Promise(() => {}); return { raw: {} }; };',
    );
    expect((await react(id, { hang: true })).status).to.equal(504);
    expect((await react(id)).status).to.equal(200);
  });

  it('answer 502 where the code needs too much memory, and the API lives on', async () => {
    const well = await reactor('module.exports = async () => ({ raw: {} });');
    const id = await reactor(`module.exports = async ({ args }) => {
      const all = [];
      while (args.greedy) all.push(new Array(1e6).fill(all.length));
      return { raw: {} };
    };`);
    expect((await react(id, { greedy: true })).status).to.equal(502);
    expect((await react(well)).status).to.equal(200);
    expect((await react(id)).status).to.equal(200);
  });
});
