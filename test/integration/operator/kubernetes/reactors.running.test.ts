import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { REACTOR_LABEL, REVISION_LABEL, TENANT_LABEL } from '../../../../src/operator/workloads/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import { startRunningReactors } from '../../../support/operator/running-reactors.ts';
import type { RunningReactors } from '../../../support/operator/running-reactors.ts';

const DEADLINE = { deadlineMs: 60_000, everyMs: 50 };
const SCALING = { minReplicas: 1, maxReplicas: 1, concurrency: 1, idleSeconds: 600 };
const returning = (text: string): string =>
  `module.exports = async (req) => ({ raw: { said: ${text}, label: req.configuration.LABEL } });`;

describe('reactors that run in the pods of a cluster', function () {
  this.timeout(120_000);
  let running: RunningReactors;

  before(async function () {
    this.timeout(600_000);
    running = await startRunningReactors(await requireKubernetes(this));
  });
  after(() => running?.close());

  /** Its first answer, once there is one. */
  const answers = (id: string, said: object, args = {}) =>
    eventually(async () => {
      const { status, body } = await running.react(id, args);
      expect(status, `${JSON.stringify(body)} ${running.operator.output().slice(-1_000)}`).to.equal(200);
      expect(body.raw).to.deep.equal(said);
    }, DEADLINE);

  const readyOf = async (name: string) => {
    const { conditions = [] } = (await running.statusOf(name)) as {
      conditions?: { type: string; status: string; reason: string }[];
    };
    return conditions.find(({ type }) => type === 'Ready');
  };
  const revisionsOf = (id: string) => [...new Set(running.podsOf(id).map(({ labels }) => labels[REVISION_LABEL]))];
  const isRunning = (id: string) =>
    eventually(async () => {
      const { body } = await running.vault.internal('GET', '/demand');
      const demands = (body as { data: { reactorId: string; inFlight: number }[] }).data;
      expect(demands.find(({ reactorId }) => reactorId === id)?.inFlight).to.equal(1);
    }, DEADLINE);

  it('that are declared get their pods and answer', async () => {
    const id = await running.declare('declared', {
      ...{ displayName: 'Declared', code: returning('"one"'), configuration: { LABEL: 'a' }, scaling: SCALING },
    });
    await answers(id, { said: 'one', label: 'a' });
    await eventually(async () => {
      expect(await readyOf('declared')).to.include({ status: 'True' });
    }, DEADLINE);
    expect(running.podsOf(id)).to.have.lengthOf(1);
  });

  it('that are made through the API do too, and never share a process with those of another tenant', async () => {
    const tenantId = await running.vault.tenant();
    const [owner, manager] = await Promise.all([
      running.vault.application({ tenantId }),
      running.vault.application({ tenantId, type: 'management' }),
    ]);
    const made = await running.vault.request('POST', '/reactors', {
      key: manager.key,
      body: { name: 'made', code: returning('"made"'), configuration: { LABEL: 'b' } },
    });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const id = made.body.id as string;
    await eventually(async () => {
      const { status, body } = await running.react(id, {}, owner);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.raw).to.deep.equal({ said: 'made', label: 'b' });
    }, DEADLINE);

    const processes = running.kubelet.pods.filter(({ labels }) => labels[REACTOR_LABEL] !== undefined);
    expect(new Set(processes.map(({ labels }) => labels[TENANT_LABEL])).size).to.equal(2);
    expect(new Set(processes.map(({ pid }) => pid)).size).to.equal(processes.length);
    for (const { pid, labels } of processes) {
      const [, file = ''] = /--workload-file=([^\0]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? [];
      const workload = JSON.parse(readFileSync(file, 'utf8')) as { tenantId: string; reactorId: string };
      expect(workload).to.include({ tenantId: labels[TENANT_LABEL], reactorId: labels[REACTOR_LABEL] });
    }
    await running.vault.request('DELETE', `/reactors/${id}`, { key: manager.key });
    await eventually(() => expect(running.podsOf(id)).to.deep.equal([]), DEADLINE);
  });

  it('call the API back by TLS, which their pods know by the authority of the operator', async () => {
    const tenantId = await running.vault.tenant();
    const [owner, manager] = await Promise.all([
      running.vault.application({ tenantId }),
      running.vault.application({ tenantId, type: 'management' }),
    ]);
    const code = `module.exports = async ({ svc }) => {
      const { id } = await svc.tokens.create({ type: 'token', data: 'kept' });
      return { raw: id };
    };`;
    const made = await running.vault.request('POST', '/reactors', {
      key: manager.key,
      body: { name: 'calling-back', code, configuration: {}, application: { id: owner.id } },
    });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const id = made.body.id as string;
    const token = await eventually(async () => {
      const { status, body } = await running.react(id, {}, owner);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.raw as string;
    }, DEADLINE);
    const { body } = await running.vault.request('GET', `/tokens/${token}`, { key: owner.key });
    expect(body).to.include({ id: token, type: 'token' });
    await running.vault.request('DELETE', `/reactors/${id}`, { key: manager.key });
  });

  it('take on other code and other configuration under load without a failed request', async () => {
    const spec = { displayName: 'Changed', configuration: { LABEL: 'a' }, scaling: SCALING };
    const id = await running.declare('changed', { ...spec, code: returning('1') });
    await answers(id, { said: 1, label: 'a' });

    const failures: unknown[] = [];
    const heard = new Set<string>();
    let asked = 0;
    let stopping = false;
    const clients = [1, 2].map(async () => {
      while (!stopping) {
        const { status, body } = await running.react(id);
        asked += 1;
        if (status === 200) heard.add(`${body.raw.said} ${body.raw.label}`);
        else failures.push({ status, body });
        await delay(5);
      }
    });
    try {
      await running.declare('changed', { ...spec, code: returning('2') });
      await eventually(() => expect(heard).to.include('2 a'), DEADLINE);
      await running.declare('changed', { ...spec, code: returning('2'), configuration: { LABEL: 'b' } });
      await eventually(() => expect(heard).to.include('2 b'), DEADLINE);
      // Until those that were replaced have ended.
      await eventually(() => expect(revisionsOf(id)).to.have.lengthOf(1), DEADLINE);
    } finally {
      stopping = true;
      await Promise.all(clients);
    }
    expect(failures).to.deep.equal([]);
    expect(asked).to.be.greaterThan(50);
    expect([...heard]).to.deep.equal(['1 a', '2 a', '2 b']);
    await answers(id, { said: 2, label: 'b' });
  });

  it('fail one request where a pod is killed in the middle of it, and serve the next', async () => {
    const id = await running.declare('killed', {
      ...{ displayName: 'Killed', scaling: SCALING },
      code: `module.exports = async ({ args }) => {
        await new Promise((resolve) => setTimeout(resolve, args.ms ?? 0));
        return { raw: 'done' };
      };`,
    });
    await eventually(async () => expect((await running.react(id)).status).to.equal(200), DEADLINE);
    const [pod] = running.podsOf(id);
    const broken = running.react(id, { ms: 5_000 });
    await isRunning(id);
    // Sent, and begun: held back by nothing.
    await delay(300);
    pod!.kill();
    const [first, next] = await Promise.all([broken, running.react(id)]);
    expect(first.status).to.equal(502);
    expect(next.status, JSON.stringify(next.body)).to.equal(200);
  });

  it('say in their status what the cluster cannot do', async () => {
    running.kubelet.hasImages = false;
    try {
      await running.declare('imageless', { displayName: 'Imageless', code: returning('1'), scaling: SCALING });
      await eventually(async () => {
        expect(await readyOf('imageless')).to.include({ status: 'False', reason: 'ImagePullFailed' });
      }, DEADLINE);
    } finally {
      running.kubelet.hasImages = true;
      await running.undeclare('imageless');
    }
  });

  it('let what runs end when they are deleted', async () => {
    const id = await running.declare('deleted', {
      ...{ displayName: 'Deleted', scaling: SCALING },
      code: `module.exports = async ({ args }) => {
        await new Promise((resolve) => setTimeout(resolve, args.ms ?? 0));
        return { raw: 'done' };
      };`,
    });
    await eventually(async () => expect((await running.react(id)).status).to.equal(200), DEADLINE);
    const last = running.react(id, { ms: 1_500 });
    await isRunning(id);
    await delay(200);
    await running.undeclare('deleted');
    const { status, body } = await last;
    expect(status, JSON.stringify(body)).to.equal(200);
    await eventually(() => expect(running.podsOf(id)).to.deep.equal([]), DEADLINE);
    expect((await running.react(id)).status).to.equal(404);
  });
});
