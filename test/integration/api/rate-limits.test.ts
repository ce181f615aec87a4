import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { digestOfKey } from '../../../src/domain/application-keys.ts';
import type { ApplicationType } from '../../../src/domain/applications.ts';
import type { TenantType } from '../../../src/domain/tenants.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, type RequestOptions, startTestVault, type TestVault } from '../../support/vault.ts';

const UNKNOWN = `/tokens/${randomUUID()}`;

describe('rate limits', () => {
  let vault: TestVault;
  let contract: Contract;
  let now = Date.now();
  let addresses = 0;

  before(async () => {
    const rateLimits = { ipRateLimits: true, trustedProxies: 1 };
    vault = await startTestVault({ clock: { now: () => now }, rateLimits });
    contract = await readContract(vault);
  });
  after(() => vault.stop());

  const newAddress = () => `192.0.2.${++addresses}`;

  /** A key of a tenant with the limits of the specification. */
  async function newKey(type: ApplicationType = 'private', tenantType: TenantType = 'production'): Promise<string> {
    const tenantId = await vault.tenant({ type: tenantType }, { plan: 'Default' });
    return (await vault.application({ tenantId, type })).key;
  }

  function send(method: string, path: string, key: string | undefined, address: string, options: RequestOptions = {}) {
    return vault.request(method, path, {
      ...(key === undefined ? {} : { key }),
      ...options,
      headers: { 'x-forwarded-for': address, ...options.headers },
    });
  }

  /** Sends as many requests as it says, all of which must be let through. */
  async function spend(count: number, request: () => Promise<Answer>): Promise<void> {
    for (let left = count; left > 0; left -= 50) {
      const answers = await Promise.all(Array.from({ length: Math.min(left, 50) }, request));
      expect(answers.filter(({ status }) => status === 429)).to.deep.equal([]);
    }
  }

  it('let exactly the rate through, and then refuse with a problem that tells when to come again', async () => {
    const [key, address] = [await newKey('private', 'test'), newAddress()];
    const read = () => send('GET', UNKNOWN, key, address);
    expect((await read()).headers.get('ratelimit')).to.equal('"test-tenant";r=49;t=10');
    now += 2_500;
    await spend(49, read);
    const answer = await read();
    contract.check('GET', UNKNOWN, answer);
    expect(answer.status).to.equal(429);
    expect(answer.body).to.include({ title: 'Too Many Requests', status: 429 });
    expect(answer.body.detail).to.equal('More than 50 requests in 10 s. Try again in 8 s.');
    expect(Object.fromEntries(answer.headers)).to.include({
      'content-type': 'application/problem+json',
      'retry-after': '8',
      'ratelimit-policy': '"test-tenant";q=50;w=10',
      ratelimit: '"test-tenant";r=0;t=8',
    });
  });

  it('let a request through after the seconds of Retry-After, as much as has left the window', async () => {
    const [key, address] = [await newKey('private', 'test'), newAddress()];
    const read = () => send('GET', UNKNOWN, key, address);
    await read();
    now += 4_000;
    await spend(49, read);
    const refused = await read();
    expect(refused.headers.get('retry-after')).to.equal('6');
    now += 5_999;
    expect((await read()).status).to.equal(429);
    now += 1;
    expect((await read()).status).to.equal(404);
    expect((await read()).status).to.equal(429);
    now += 4_000;
    await spend(49, read);
    expect((await read()).status).to.equal(429);
  });

  it('count each key at each address apart where the row says key and address', async () => {
    const [key, other] = [await newKey('private', 'test'), await newKey('private', 'test')];
    const [address, elsewhere] = [newAddress(), newAddress()];
    await spend(50, () => send('GET', UNKNOWN, key, address));
    expect((await send('GET', UNKNOWN, key, address)).status).to.equal(429);
    expect((await send('GET', UNKNOWN, key, elsewhere)).status).to.equal(404);
    expect((await send('GET', UNKNOWN, other, address)).status).to.equal(404);
  });

  it('count by resource, and leave other resources be', async () => {
    const [key, address] = [await newKey(), newAddress()];
    const list = () => send('GET', '/tokens', key, address);
    expect((await list()).headers.get('ratelimit-policy')).to.equal('"list-tokens";q=100;w=10');
    await spend(99, list);
    expect((await list()).status).to.equal(429);
    expect((await send('GET', '/v2/tokens', key, address)).status).to.equal(429);
    expect((await send('GET', UNKNOWN, key, address)).status).to.equal(404);
  });

  it('count creating and tokenizing together, and refuse before the body is looked at', async () => {
    const [key, address] = [await newKey(), newAddress()];
    await spend(120, () => send('POST', '/tokens', key, address, { body: {} }));
    await spend(80, () => send('POST', '/tokenize', key, address, { body: { type: 'token' } }));
    const answer = await send('POST', '/tokens', key, address, { rawBody: '{' });
    expect(answer.status).to.equal(429);
    contract.check('POST', '/tokens', answer);
  });

  it('block a public key at an address for ten seconds, and then begin anew', async () => {
    const [key, address] = [await newKey('public'), newAddress()];
    const read = () => send('GET', UNKNOWN, key, address);
    await spend(50, read);
    const blocked = await read();
    expect(blocked.headers.get('retry-after')).to.equal('10');
    expect(blocked.headers.get('ratelimit-policy')).to.equal('"public";q=50;w=60');
    now += 9_999;
    expect((await read()).headers.get('retry-after')).to.equal('1');
    expect((await send('GET', UNKNOWN, key, newAddress())).status).to.equal(403);
    now += 1;
    expect((await read()).headers.get('ratelimit')).to.equal('"public";r=49;t=60');
  });

  it('block a management key for a minute, wherever it is used', async () => {
    const key = await newKey('management');
    const read = (address = newAddress()) => send('GET', `/applications/${randomUUID()}`, key, address);
    const [here, there] = [newAddress(), newAddress()];
    await spend(100, () => read(here));
    await spend(100, () => read(there));
    expect((await read()).headers.get('retry-after')).to.equal('60');
    now += 59_999;
    expect((await read()).status).to.equal(429);
    now += 1;
    expect((await read()).status).to.equal(404);
  });

  it('give legacy keys a rate of their own', async () => {
    const key = `brought-from-elsewhere-${randomUUID()}`;
    const tenantId = await vault.tenant({}, { plan: 'Default' });
    await vault.application({ tenantId, declaration: { keys: [{ id: randomUUID(), digest: digestOfKey(key) }] } });
    const address = newAddress();
    const read = () => send('GET', UNKNOWN, key, address);
    await spend(100, read);
    const answer = await read();
    expect(answer.status).to.equal(429);
    expect(answer.headers.get('ratelimit-policy')).to.equal('"legacy-key";q=100;w=60');
    expect(answer.headers.get('retry-after')).to.equal('60');
  });

  it('count all that an address sends, also without a key or a route, and block it for half a minute', async () => {
    const [key, address] = [await newKey(), newAddress()];
    const open = await send('GET', '/openapi.json', undefined, address);
    expect(open.headers.get('ratelimit-policy')).to.equal('"all-requests";q=2000;w=10');
    await spend(999, () => send('GET', '/nothing', undefined, address));
    await spend(1000, () => send('GET', '/tokens', 'key_prod_pvt_forged', address));
    const refused = await send('GET', '/nothing', undefined, address);
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '30']);
    expect((await send('GET', UNKNOWN, key, address)).status).to.equal(429);
    const deprecated = await send('POST', `/applications/${randomUUID()}/regenerate`, key, address);
    expect([deprecated.status, deprecated.headers.get('deprecation')]).to.deep.equal([429, null]);
    expect((await send('GET', '/healthz', undefined, address)).status).to.equal(200);
    expect((await send('GET', '/readyz', undefined, address)).status).to.equal(200);
    expect((await send('GET', UNKNOWN, key, newAddress())).status).to.equal(404);
    now += 30_000;
    expect((await send('GET', UNKNOWN, key, address)).status).to.equal(404);
  });

  it('do not use up other counters with what one refuses', async () => {
    const [key, address] = [await newKey('private', 'test'), newAddress()];
    const list = () => send('GET', '/tokens', key, address);
    await spend(50, list);
    for (let index = 0; index < 60; index++) await list();
    now += 10_000;
    // Of the 100 of the list, those that the row of test tenants refused have taken none.
    await spend(50, list);
    expect((await list()).headers.get('ratelimit-policy')).to.equal('"test-tenant";q=50;w=10');
  });

  it('count refusals by the name of the limit, and nothing that tells who was refused', async () => {
    const metrics = await vault.metrics.registry.metrics();
    for (const limit of [
      'test-tenant',
      'list-tokens',
      'create-tokens',
      'public',
      'management',
      'legacy-key',
      'all-requests',
    ]) {
      expect(metrics).to.match(new RegExp(`^tokenkeep_rate_limited_requests_total\\{limit="${limit}"\\} [1-9]`, 'm'));
    }
    expect(metrics).not.to.include('192.0.2.');
  });
});
