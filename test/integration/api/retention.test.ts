import { expect } from 'chai';
import { insertLogs } from '../../../src/data/logs.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS, type Quotas } from '../../../src/domain/tenants.ts';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { newLog } from '../../support/rows.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

/** A change of control data holds on every replica within this time. */
const SEEN_WITHIN_MS = 1_000;
const HOUR = 3600_000;

describe('retention that is changed while the vault runs', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let tenantId: string;

  before(async () => {
    vault = await startTestVault();
    replica = await startReplica(vault);
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });
  beforeEach(async () => {
    tenantId = await vault.tenant();
  });

  async function setQuotas(quotas: Partial<Quotas>): Promise<void> {
    const { status } = await vault.internal('PUT', `/tenants/${tenantId}`, {
      ...{ name: tenantId, type: 'production', settings: DEFAULT_SETTINGS },
      quotas: { ...DEFAULT_QUOTAS, ...quotas },
    });
    expect(status).to.equal(200);
  }

  it('of logs holds for the very next reads on every replica, though the entries are still there', async () => {
    const { key } = await vault.application({ tenantId, type: 'management' });
    // Nothing is swept that the retention of any tenant reaches back to.
    await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, logRetentionSeconds: 72 * 3600 } });
    const at = (age: number) => newLog(tenantId, 'watched', { createdAt: new Date(Date.now() - age) });
    await insertLogs(vault.database, [at(0.5 * HOUR), at(2 * HOUR), at(30 * HOUR)]);
    const shown = async (baseUrl: string): Promise<number> => {
      const answer = await fetch(`${baseUrl}/logs?entity_id=watched`, { headers: { 'svc-api-key': key } });
      return ((await answer.json()) as { data: unknown[] }).data.length;
    };
    for (const [hours, expected] of [
      [24, 2],
      [1, 1],
      [48, 3],
      [3, 2],
    ] as const) {
      await setQuotas({ logRetentionSeconds: hours * 3600 });
      for (const { baseUrl } of [vault, replica]) {
        await eventually(async () => expect(await shown(baseUrl), `${hours} h`).to.equal(expected), {
          deadlineMs: SEEN_WITHIN_MS,
        });
      }
    }
  });

  it('of codes holds for those stored from then on: one that is there keeps the time it was stored for', async () => {
    const { key } = await vault.application({
      tenantId,
      permissions: ['token:create'],
      rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
    });
    const card = { number: '4242424242424242', cvc: '123' };
    const create = async (): Promise<string> => {
      const { status, body } = await vault.request('POST', '/tokens', { key, body: { type: 'card', data: card } });
      expect(status, JSON.stringify(body)).to.equal(201);
      return body.id as string;
    };
    const codeOf = async (id: string): Promise<unknown> =>
      (await vault.request('GET', `/tokens/${id}`, { key })).body.data.cvc as unknown;
    const before = await create();
    await setQuotas({ cvcRetentionSeconds: 0 });
    await eventually(async () => expect(await codeOf(await create())).to.equal(undefined), {
      deadlineMs: SEEN_WITHIN_MS,
    });
    expect(await codeOf(before)).to.equal('123');
  });
});
