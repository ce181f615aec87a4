import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { CustomRateLimit } from '../../../src/domain/rate-limit-quotas.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import type { Metrics } from '../../../src/platform/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { requireRedis, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const UNKNOWN = `/tokens/${randomUUID()}`;
const IN_AN_HOUR: CustomRateLimit = { name: 'a', counter: 'Key', requests: 6, windowSeconds: 3600, action: 'Throttle' };
const IN_SECONDS: CustomRateLimit = { ...IN_AN_HOUR, requests: 3, windowSeconds: 3 };

describe('rate limits that replicas share', function () {
  let redis: TestRedis;
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let log = '';

  before(async function () {
    redis = await startTestRedis(requireRedis(this));
    const logger = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void (log += line) },
    });
    vault = await startTestVault({ logger, rateLimits: { redisUrl: redis.url } });
    replica = await startReplica(vault, vault.apiConnectionString, { redisUrl: redis.url });
  });
  after(async () => {
    redis?.thaw();
    await replica?.stop();
    await vault?.stop();
    await redis?.stop();
  });

  async function newKey(...rows: CustomRateLimit[]): Promise<string> {
    const tenantId = await vault.tenant({}, { plan: 'Custom', rows });
    return (await vault.application({ tenantId })).key;
  }

  async function send(baseUrl: string, key: string): Promise<Response> {
    const response = await fetch(baseUrl + UNKNOWN, { headers: { 'svc-api-key': key } });
    await response.arrayBuffer();
    return response;
  }
  const here = (key: string) => send(vault.baseUrl, key);
  const there = (key: string) => send(replica.baseUrl, key);
  const isRefused = async (answer: Promise<Response>) => (await answer).status === 429;

  async function isShared(metrics: Metrics): Promise<number> {
    const [value] = (await metrics.registry.getSingleMetric('tokenkeep_rate_limits_shared')!.get()).values;
    return value!.value;
  }
  const becomesShared = (value: number) =>
    eventually(async () => {
      expect([await isShared(vault.metrics), await isShared(replica.metrics)]).to.deep.equal([value, value]);
    });
  // A busy machine may have been too slow for it before.
  beforeEach(() => becomesShared(1));

  it('let the rate through in all, whoever is asked, and tell the same', async () => {
    const key = await newKey(IN_AN_HOUR);
    const left: (string | null)[] = [];
    for (const ask of [here, there, here, there, here, there]) left.push((await ask(key)).headers.get('ratelimit'));
    expect(left.map((header) => /r=(\d)/.exec(header!)![1])).to.deep.equal(['5', '4', '3', '2', '1', '0']);
    for (const ask of [here, there]) {
      const answer = await ask(key);
      expect(answer.status).to.equal(429);
      expect(Number(answer.headers.get('retry-after'))).to.be.within(3590, 3600);
    }
  });

  it('let the rate through of requests that come at once', async () => {
    const key = await newKey(IN_AN_HOUR);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 ? here(key) : there(key))));
    expect(answers.filter(({ status }) => status !== 429)).to.have.length(6);
  });

  it('have room again as requests leave the window', async () => {
    const key = await newKey(IN_SECONDS);
    await Promise.all([here(key), there(key), here(key)]);
    const answer = await there(key);
    expect(answer.status).to.equal(429);
    expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 3);
    await eventually(async () => expect(await isRefused(there(key))).to.equal(false));
  });

  it('block at every replica once one of them refused, until the block ends', async () => {
    const key = await newKey({ ...IN_AN_HOUR, requests: 1, action: 'Block', blockSeconds: 2 });
    await here(key);
    expect((await here(key)).headers.get('retry-after')).to.equal('2');
    expect(Number((await there(key)).headers.get('retry-after'))).to.be.within(1, 2);
    await eventually(async () => expect(await isRefused(there(key))).to.equal(false));
  });

  it('give back what one counter took of a request that another refuses', async () => {
    const key = await newKey(IN_AN_HOUR, { ...IN_SECONDS, name: 'b', requests: 1 });
    await here(key);
    for (let index = 0; index < 8; index++) expect(await isRefused(there(key))).to.equal(true);
    await eventually(async () => expect(await isRefused(here(key))).to.equal(false));
  });

  it('are counted by each replica while Redis is gone, which is warned of once, and shared again after', async () => {
    const key = await newKey(IN_AN_HOUR);
    for (let index = 0; index < 6; index++) await here(key);
    expect(await isRefused(there(key))).to.equal(true);
    log = '';
    await redis.kill();
    for (let index = 0; index < 6; index++) {
      expect((await here(key)).status).to.equal(404);
      expect((await there(key)).status).to.equal(404);
    }
    expect(await isRefused(here(key))).to.equal(true);
    await becomesShared(0);
    expect(log.match(/"level":"warn".*Redis does not answer/g)).to.have.length(1);

    await redis.start();
    await becomesShared(1);
    expect(log.match(/Redis answers/g)).to.have.length(1);
    const next = await newKey(IN_AN_HOUR);
    for (let index = 0; index < 3; index++) {
      expect(await isRefused(here(next))).to.equal(false);
      expect(await isRefused(there(next))).to.equal(false);
    }
    expect([await isRefused(here(next)), await isRefused(there(next))]).to.deep.equal([true, true]);
  });

  it('hold no request where Redis hangs', async () => {
    const key = await newKey({ ...IN_AN_HOUR, requests: 1000 });
    await here(key);
    log = '';
    redis.freeze();
    for (let index = 0; index < 50; index++) expect((await here(key)).status).to.equal(404);
    // The first request finds out, for all that follow.
    expect(log.match(/Redis does not answer/g)).to.have.length(1);
    expect(log).not.to.include('Redis answers');
    redis.thaw();
    await there(key);
    await becomesShared(1);
  });

  it('show nothing of the password of Redis', () => {
    expect(log).not.to.include('canary-of-redis');
  });
});

describe('rate limits whose Redis is not there at the start', () => {
  it('are counted in memory, and the vault is there', async function () {
    const redis = await startTestRedis(requireRedis(this));
    await redis.kill();
    let log = '';
    const logger = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void (log += line) },
    });
    const vault = await startTestVault({ logger, rateLimits: { redisUrl: redis.url } });
    try {
      const tenantId = await vault.tenant({}, { plan: 'Custom', rows: [{ ...IN_AN_HOUR, requests: 1 }] });
      const { key } = await vault.application({ tenantId });
      expect((await vault.request('GET', UNKNOWN, { key })).status).to.equal(404);
      expect((await vault.request('GET', UNKNOWN, { key })).status).to.equal(429);
      expect(log.match(/"level":"warn".*Redis does not answer/g)).to.have.length(1);
      expect(log).not.to.include('canary-of-redis');
      await redis.start();
      await eventually(() => expect(log).to.include('Redis answers'));
    } finally {
      await vault.stop();
      await redis.stop();
    }
  });
});
