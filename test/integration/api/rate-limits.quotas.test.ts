import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AccessRule } from '../../../src/domain/access.ts';
import type { Permission } from '../../../src/domain/permissions.ts';
import type { CustomRateLimit, RateLimitQuota } from '../../../src/domain/rate-limit-quotas.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS, type Quotas } from '../../../src/domain/tenants.ts';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const UNKNOWN = `/tokens/${randomUUID()}`;
/** A change must be seen by every replica within this time. */
const SEEN_WITHIN_MS = 1_000;
const ROW: CustomRateLimit = { name: 'all', counter: 'Key', requests: 2, windowSeconds: 3600, action: 'Throttle' };

const custom = (...rows: CustomRateLimit[]): RateLimitQuota => ({ plan: 'Custom', rows });

describe('the quotas of a tenant', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;

  before(async () => {
    const rateLimits = { trustedProxies: 1, ipRateLimits: true };
    vault = await startTestVault({ rateLimits });
    replica = await startReplica(vault, vault.apiConnectionString, rateLimits);
  });
  after(async () => {
    await replica?.stop();
    await vault?.stop();
  });

  async function newKey(rateLimit: RateLimitQuota, type: 'production' | 'test' = 'production') {
    const tenantId = await vault.tenant({ type }, rateLimit);
    return vault.application({ tenantId });
  }

  const read = (key: string, address = '192.0.2.1') =>
    vault.request('GET', UNKNOWN, { key, headers: { 'x-forwarded-for': address } });
  const policyOf = async (key: string) => (await read(key)).headers.get('ratelimit-policy');

  async function putQuotas(tenantId: string, quotas: Partial<Quotas>): Promise<void> {
    const { status } = await vault.internal('PUT', `/tenants/${tenantId}`, {
      ...{ name: tenantId, type: 'production', settings: DEFAULT_SETTINGS },
      quotas: { ...DEFAULT_QUOTAS, ...quotas },
    });
    expect(status).to.equal(200);
  }

  async function bothReplicas(key: string, method: string, path: string, body?: object): Promise<Response[]> {
    return Promise.all(
      [vault.baseUrl, replica.baseUrl].map((baseUrl) =>
        fetch(baseUrl + path, {
          method,
          headers: { 'svc-api-key': key, 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.2' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
    );
  }

  it('lift the limits of its keys where it is unlimited, and not that of an address', async () => {
    const { key } = await newKey({ plan: 'Unlimited' }, 'test');
    expect(await policyOf(key)).to.equal('"all-requests";q=2000;w=10');
    const answers = await Promise.all(Array.from({ length: 60 }, () => read(key)));
    expect(answers.filter(({ status }) => status === 429)).to.deep.equal([]);
  });

  it('may hold limits of its own, each of which may refuse', async () => {
    const search: CustomRateLimit = { ...ROW, name: 'lists', resource: 'ListTokens', requests: 1 };
    const { key } = await newKey(custom(ROW, search));
    const list = () => vault.request('GET', '/tokens', { key });
    expect((await list()).headers.get('ratelimit')).to.equal('"lists";r=0;t=3600');
    expect((await list()).headers.get('ratelimit-policy')).to.equal('"lists";q=1;w=3600');
    expect((await read(key)).headers.get('ratelimit')).to.equal('"all";r=0;t=3600');
    const refused = await read(key);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('ratelimit-policy')).to.equal('"all";q=2;w=3600');
  });

  it('count its keys, its addresses, or each key at each address, as a row says', async () => {
    const refusals = async (counter: CustomRateLimit['counter']) => {
      const { key, tenantId } = await newKey(custom({ ...ROW, counter }));
      const { key: other } = await vault.application({ tenantId });
      await Promise.all([read(key, '192.0.2.7'), read(key, '192.0.2.7')]);
      const asked = [
        read(key, '192.0.2.7'),
        read(key, '192.0.2.8'),
        read(other, '192.0.2.7'),
        read(other, '192.0.2.8'),
      ];
      return (await Promise.all(asked)).map(({ status }) => status === 429);
    };
    expect(await refusals('Key')).to.deep.equal([true, true, false, false]);
    expect(await refusals('IP')).to.deep.equal([true, false, true, false]);
    expect(await refusals('KeyAndIP')).to.deep.equal([true, false, false, false]);
  });

  it('count refusals by limits of its own under one name', async () => {
    const { key } = await newKey(custom({ ...ROW, name: 'a-name-of-ours', requests: 1 }));
    await Promise.all([read(key), read(key)]);
    const metrics = await vault.metrics.registry.metrics();
    expect(metrics).to.match(/rate_limited_requests_total\{limit="custom"\} [1-9]/);
    expect(metrics).not.to.include('a-name-of-ours');
  });

  it('are obeyed by every replica within a second of their change: rate limits', async () => {
    const { key, tenantId } = await newKey({ plan: 'Unlimited' });
    const policies = async () =>
      (await bothReplicas(key, 'GET', UNKNOWN)).map(({ headers }) => headers.get('ratelimit-policy'));
    const changes: [RateLimitQuota, string][] = [
      [custom({ ...ROW, requests: 900 }), '"all";q=900;w=3600'],
      [custom({ ...ROW, requests: 1800 }), '"all";q=1800;w=3600'],
      [{ plan: 'Unlimited' }, '"all-requests";q=2000;w=10'],
    ];
    await policies();
    for (const [rateLimit, policy] of changes) {
      await putQuotas(tenantId, { rateLimit });
      await eventually(async () => expect(await policies()).to.deep.equal([policy, policy]), {
        deadlineMs: SEEN_WITHIN_MS,
      });
    }
  });

  it('are obeyed by every replica within a second of their change: tokens of one request', async () => {
    const tenantId = await vault.tenant();
    const permissions: Permission[] = ['token:create', 'token:read', 'token:use'];
    const rules: AccessRule[] = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
    const { key } = await vault.application({ tenantId, permissions, rules });
    const create = () => vault.request('POST', '/tokens', { key, body: { type: 'token', data: 'x' } });
    const ids = (await Promise.all(Array.from({ length: 7 }, create))).map(({ body }) => body.id as string);
    const toTokenize = Object.fromEntries(ids.map((id) => [id, { type: 'token', data: 'x' }]));
    const toDetokenize = Object.fromEntries(ids.map((id) => [id, `{{ ${id} }}`]));
    const statuses = async () => {
      const made = await bothReplicas(key, 'POST', '/tokenize', toTokenize);
      const shown = await bothReplicas(key, 'POST', '/detokenize', toDetokenize);
      return [made, shown].map((answers) => answers.map(({ status }) => status));
    };
    const steps: [Partial<Quotas>, number[][]][] = [
      [
        {},
        [
          [400, 400],
          [400, 400],
        ],
      ],
      [
        { tokenize: 7 },
        [
          [200, 200],
          [400, 400],
        ],
      ],
      [
        { detokenize: 7 },
        [
          [400, 400],
          [200, 200],
        ],
      ],
    ];
    for (const [quotas, expected] of steps) {
      await putQuotas(tenantId, { rateLimit: { plan: 'Unlimited' }, ...quotas });
      await eventually(async () => expect(await statuses()).to.deep.equal(expected), { deadlineMs: SEEN_WITHIN_MS });
    }
  });

  it('are refused by the internal API where a row is not one', async () => {
    const tenantId = await vault.tenant();
    for (const row of [
      { ...ROW, counter: 'Tenant' },
      { ...ROW, requests: 0 },
      { ...ROW, resource: 'Logs' },
    ]) {
      const { status } = await vault.internal('PUT', `/tenants/${tenantId}`, {
        ...{ name: tenantId, type: 'production', settings: DEFAULT_SETTINGS },
        quotas: { ...DEFAULT_QUOTAS, rateLimit: { plan: 'Custom', rows: [row] } },
      });
      expect(status).to.equal(400);
    }
  });
});
