import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { generateApplicationKey } from '../../../src/domain/application-keys.ts';
import type { CustomCounter, CustomRateLimit, RateLimitQuota } from '../../../src/domain/rate-limit-quotas.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

/** Makes as many calls as it is asked for, twenty at a time, and tells how they ended. */
const CODE = `module.exports = async ({ args, svc }) => {
  const outcomes = {};
  const call = async () => {
    try {
      await svc.tokens.create({ type: 'token', data: 'from svc', ...args.members });
      return 'let through';
    } catch (error) {
      return [error.constructor.name, error.status, error.errors.error?.[0]].join(' ').trim();
    }
  };
  for (let left = args.calls; left > 0; left -= 20) {
    for (const outcome of await Promise.all(Array.from({ length: Math.min(left, 20) }, call))) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  }
  return { raw: outcomes };
};`;
const MALFORMED = 'BadRequestError 400';

describe('rate limits of what reactors ask for', function () {
  this.timeout(60_000);
  let vault: TestVault;
  const now = Date.now();

  before(async () => {
    // Where time stands still, all requests of the test are in one window.
    vault = await startTestVault({ reactors: true, clock: { now: () => now }, rateLimits: { ipRateLimits: true } });
  });
  after(() => vault?.stop());

  /** A reactor of a new tenant, to be run with the key of another application of it. */
  async function deploy(quota?: RateLimitQuota) {
    const tenantId = await vault.tenant({}, quota);
    const { key } = await vault.application({ tenantId });
    const { key: managerKey } = await vault.application({ tenantId, type: 'management' });
    const { id } = await vault.application({ tenantId, type: 'public', permissions: ['token:create'] });
    const body = { name: 'Caller', code: CODE, configuration: {}, application: { id } };
    const reactor = (await vault.request('POST', '/reactors', { key: managerKey, body })).body.id as string;
    return {
      key,
      run: async (calls: number, members: object = {}) =>
        (await vault.request('POST', `/reactors/${reactor}/react`, { key, body: { args: { calls, members } } })).body
          .raw as unknown,
    };
  }

  const custom = (counter: CustomCounter, requests: number, more: Partial<CustomRateLimit> = {}): RateLimitQuota => ({
    plan: 'Custom',
    rows: [{ name: 'few', counter, requests, windowSeconds: 3600, action: 'Throttle', ...more }],
  });

  /** How many requests the address has left, once this one is counted. */
  async function leftAtTheAddress(key?: string): Promise<number> {
    const path = key === undefined ? '/openapi.json' : `/tokens/${randomUUID()}`;
    const { headers } = await vault.request('GET', path, key === undefined ? {} : { key });
    const [, left] = /^"all-requests";r=(\d+);/.exec(headers.get('ratelimit')!)!;
    return Number(left);
  }

  for (const counter of ['Key', 'KeyAndIP'] as const) {
    it(`hold for its application over all invocations, whose keys differ, counted by ${counter}`, async () => {
      const { run } = await deploy(custom(counter, 2, { resource: 'CreateTokens' }));
      expect(await run(1)).to.deep.equal({ 'let through': 1 });
      expect(await run(1)).to.deep.equal({ 'let through': 1 });
      expect(Object.keys((await run(1)) as object)).to.deep.equal([
        'RateLimitError 429 More than 2 requests in 3600 s. Try again in 3600 s.',
      ]);
    });
  }

  it('leave the address of its instance to others', async () => {
    const { run } = await deploy();
    const before = await leftAtTheAddress();
    expect(await run(60)).to.deep.equal({ 'let through': 60 });
    // The request that runs the reactor, and the one that asks.
    expect(before - (await leftAtTheAddress())).to.equal(2);
  });

  it('leave to others at the address what a tenant’s own row lets it do', async () => {
    const { key, run } = await deploy(custom('IP', 4));
    expect(await run(10)).to.deep.equal({ 'let through': 10 });
    const statuses: number[] = [];
    // Making the reactor and running it were two.
    for (let request = 0; request < 3; request++) {
      statuses.push((await vault.request('GET', `/tokens/${randomUUID()}`, { key })).status);
    }
    expect(statuses).to.deep.equal([404, 404, 429]);
  });

  it('end an invocation’s calls after a thousand, refused ones counted, and the next has as many again', async () => {
    const { run } = await deploy();
    expect(await run(1003, { type: 'no such type' })).to.deep.equal({
      [MALFORMED]: 1000,
      'RateLimitError 429 A reactor may make 1000 calls in one invocation.': 3,
    });
    expect(await run(1)).to.deep.equal({ 'let through': 1 });
    expect(await vault.metrics.registry.metrics()).to.match(
      /^tokenkeep_rate_limited_requests_total\{limit="invocation"\} 3$/m,
    );
  });

  it('count a forged key on the address, also while a reactor runs', async () => {
    const { run } = await deploy();
    const before = await leftAtTheAddress();
    const running = run(200);
    for (let request = 0; request < 5; request++) {
      const forged = generateApplicationKey('production', 'public');
      expect((await vault.request('GET', `/tokens/${randomUUID()}`, { key: forged })).status).to.equal(401);
    }
    expect(await running).to.deep.equal({ 'let through': 200 });
    expect(before - (await leftAtTheAddress())).to.equal(7);
  });
});
