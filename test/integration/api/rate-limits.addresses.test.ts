import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { CustomRateLimit, RateLimitQuota } from '../../../src/domain/rate-limit-quotas.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { startTestVault } from '../../support/vault.ts';

const UNKNOWN = `/tokens/${randomUUID()}`;
const ROW: CustomRateLimit = { name: 'all', counter: 'Key', requests: 2, windowSeconds: 3600, action: 'Throttle' };

const custom = (...rows: CustomRateLimit[]): RateLimitQuota => ({ plan: 'Custom', rows });

describe('rate limits by address', () => {
  it('go by the connection where no proxy is trusted, whatever address a client claims', async () => {
    const vault = await startTestVault({ rateLimits: { ipRateLimits: true } });
    try {
      const rateLimit = custom({ ...ROW, counter: 'IP' });
      const { key } = await vault.application({ tenantId: await vault.tenant({}, rateLimit) });
      const claiming = (address: string) =>
        vault.request('GET', UNKNOWN, { key, headers: { 'x-forwarded-for': address, forwarded: `for=${address}` } });
      const statuses = [];
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) statuses.push((await claiming(address)).status);
      expect(statuses).to.deep.equal([404, 404, 429]);
    } finally {
      await vault.stop();
    }
  });

  it('count the connection where the proxies did not name the client, which is counted', async () => {
    const vault = await startTestVault({ rateLimits: { trustedProxies: 2, ipRateLimits: true } });
    try {
      const rateLimit = custom({ ...ROW, counter: 'IP' });
      const { key } = await vault.application({ tenantId: await vault.tenant({}, rateLimit) });
      const naming = (list: string) => vault.request('GET', UNKNOWN, { key, headers: { 'x-forwarded-for': list } });
      const statuses = [];
      for (const list of ['192.0.2.1', 'x, 192.0.2.2', '192.0.2.1', '192.0.2.9, 10.0.0.1']) {
        statuses.push((await naming(list)).status);
      }
      expect(statuses).to.deep.equal([404, 404, 429, 404]);
      expect(await vault.metrics.registry.metrics()).to.match(/^tokenkeep_forwarded_addresses_unusable_total 3$/m);
    } finally {
      await vault.stop();
    }
  });

  it('are off where the deployer says so, also for the half of a row that counts addresses', async () => {
    const vault = await startTestVault();
    try {
      const unlimited = await vault.application();
      expect((await vault.request('GET', UNKNOWN, unlimited)).headers.has('ratelimit')).to.equal(false);
      const byAddress = await vault.tenant({}, custom({ ...ROW, counter: 'IP', requests: 1 }));
      const { key } = await vault.application({ tenantId: byAddress });
      await vault.request('GET', UNKNOWN, { key });
      expect((await vault.request('GET', UNKNOWN, { key })).status).to.equal(404);
      const { key: limited } = await vault.application({ tenantId: await vault.tenant({}, { plan: 'Default' }) });
      const { headers } = await vault.request('GET', UNKNOWN, { key: limited });
      expect(headers.get('ratelimit-policy')).to.equal('"private";q=2000;w=10');
    } finally {
      await vault.stop();
    }
  });

  for (const { trustedProxies, what, warnings } of [
    { trustedProxies: 0, what: 'warn once', warnings: 1 },
    { trustedProxies: 1, what: 'do not warn', warnings: 0 },
  ]) {
    it(`${what} of addresses from a proxy where ${trustedProxies} are trusted, and log none of them`, async () => {
      let log = '';
      const destination = { write: (line: string) => void (log += line) };
      const logger = createLogger({ level: 'debug', format: 'json', destination });
      const vault = await startTestVault({ logger, rateLimits: { trustedProxies } });
      try {
        await vault.request('GET', '/openapi.json');
        await vault.request('GET', '/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } });
        expect(log).not.to.include('trusted-proxies');
        for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2, 192.0.2.3']) {
          await vault.request('GET', '/openapi.json', { headers: { 'x-forwarded-for': address } });
        }
        const warning =
          /"level":"warn".*--trusted-proxies is 0 but requests come with X-Forwarded-For: all clients behind that proxy/g;
        expect(log.match(warning) ?? []).to.have.length(warnings);
        expect(log).not.to.include('192.0.2.');
      } finally {
        await vault.stop();
      }
    });
  }
});
