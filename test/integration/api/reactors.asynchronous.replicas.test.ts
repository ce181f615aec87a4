import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DEFAULT_SCALING, REACTOR_DEFAULTS } from '../../../src/domain/declarations.ts';
import type { Metrics } from '../../../src/platform/metrics.ts';
import { CallbackReceiver } from '../../support/callback-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { invocationIdOf } from '../../support/invocation-id.ts';
import { createReactorHarness, type ReactorHarness } from '../../support/reactors.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = 'module.exports = async ({ args }) => ({ raw: args.n });';
const INVOCATIONS = 60;

describe('asynchronous invocations and several replicas of the API', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let receiver: CallbackReceiver;
  let instances: ReactorHarness;
  let user: TestApplication;
  const reactorId = randomUUID();

  before(async () => {
    receiver = await CallbackReceiver.start();
    const hosts = { callbackHttpHosts: [receiver.host] };
    vault = await startTestVault(hosts);
    replica = await startReplica(vault, vault.apiConnectionString, {}, hosts);
    instances = createReactorHarness();
    user = await vault.application();
    expect((await vault.internal('PUT', '/checker', await instances.runtime.checker())).status).to.equal(204);
    const declaration = { name: 'Reactor', code: CODE, configuration: {}, ...REACTOR_DEFAULTS };
    const put = await vault.internal('PUT', `/tenants/${user.tenantId}/reactors/${reactorId}`, {
      ...{ ...declaration, scaling: DEFAULT_SCALING },
    });
    expect(put.status, JSON.stringify(put.body)).to.equal(200);
    await runInstances();
  });
  after(async () => {
    await replica.stop();
    await instances.stop();
    await vault.stop();
    await receiver.stop();
  });

  /** Two instances, which both replicas are told of, as the control plane does. */
  async function runInstances(): Promise<void> {
    const [row] = await vault.database.run<{ revision: string }>(
      { text: 'select revision from reactors where reactor_id = $1' },
      [reactorId],
    );
    const { tenantId } = user;
    await instances.deploy(CODE, { tenantId, reactorId, revision: row!.revision }, 2);
    const { ready } = instances.runtime.list()[0]!;
    const headers = { authorization: `Bearer ${vault.internalToken}`, 'content-type': 'application/json' };
    for (const { internalUrl } of [vault, replica]) {
      const url = `${internalUrl}/internal/tenants/${tenantId}/reactors/${reactorId}/instances`;
      const { status } = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ instances: ready }) });
      expect(status).to.be.oneOf([200, 204]);
    }
  }

  async function countOf({ registry }: Metrics, name: string): Promise<number> {
    const { values } = await registry.getSingleMetric(`tokenkeep_${name}`)!.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  }

  it('run once and are delivered once, shared between them', async () => {
    const names = Array.from({ length: INVOCATIONS }, (_, n) => String(n));
    const ids = await Promise.all(
      names.map(async (name, n) => {
        const body = { args: { n }, callback_url: receiver.url(name) };
        const { baseUrl } = n % 2 === 0 ? vault : replica;
        const answer = await fetch(`${baseUrl}/reactors/${reactorId}/react`, {
          ...{ method: 'POST', body: JSON.stringify(body) },
          headers: { 'svc-api-key': user.key, 'content-type': 'application/json' },
        });
        expect(answer.status).to.equal(202);
        return invocationIdOf(answer);
      }),
    );
    for (const [n, name] of names.entries()) {
      const { headers, text } = await receiver.next(name);
      expect(headers['webhook-id']).to.equal(ids[n]);
      expect(JSON.parse(text).data.body).to.deep.equal({ raw: n });
    }
    await eventually(async () => {
      const left = await vault.database.run({ text: `select from reactor_invocations where state <> 'delivered'` });
      expect(left).to.have.length(0);
    });
    for (const name of names) expect(receiver.received(name), name).to.have.length(1);
    const each = await Promise.all(
      [vault, replica].map(({ metrics }) => countOf(metrics, 'asynchronous_invocations_ended_total')),
    );
    expect(each[0]! + each[1]!).to.equal(INVOCATIONS);
    for (const count of each) expect(count).to.be.above(0);
  });
});
