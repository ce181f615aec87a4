import { expect } from 'chai';
import { DEFAULT_SCALING } from '../../../src/domain/declarations.ts';
import type { ReactorInstance } from '../../../src/domain/declarations.ts';
import { Instance } from '../../../src/reactors/host/instance.ts';
import { createReactorHarness, stateOf, until, workloadOf } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';

const SLOW =
  'module.exports = async (req) => { await new Promise((r) => setTimeout(r, req.args.ms)); return { raw: 1 } }';

describe('one instance of a reactor', function () {
  this.timeout(30_000);
  let reactors: ReactorHarness;
  before(() => {
    reactors = createReactorHarness();
  });
  after(() => reactors.stop());

  const instanceOf = ({ workload }: DeployedReactor): ReactorInstance => stateOf(reactors.runtime, workload)!.ready[0]!;

  function post({ address, revision }: ReactorInstance, credential: string, args: unknown, path = '/invoke') {
    const body = JSON.stringify({ revision, args, traceId: 't', timeoutMs: 5_000 });
    return fetch(address + path, { method: 'POST', headers: { authorization: `Bearer ${credential}` }, body });
  }

  it('answers nobody without its credential', async () => {
    const instance = instanceOf(await reactors.deploy(SLOW));
    for (const credential of ['', 'wrong', `${instance.credential}x`]) {
      expect((await post(instance, credential, { ms: 0 })).status).to.equal(401);
    }
    expect((await post(instance, instance.credential, { ms: 0 })).status).to.equal(200);
  });

  it('serves no other revision, and checks no code', async () => {
    const instance = instanceOf(await reactors.deploy(SLOW));
    const other = await post({ ...instance, revision: 'other' }, instance.credential, { ms: 0 });
    expect([other.status, other.headers.get('x-reactor-busy')]).to.deep.equal([503, '1']);
    expect((await post(instance, instance.credential, {}, '/check')).status).to.equal(404);
  });

  it('is busy before any code runs, at its concurrency', async () => {
    const instance = instanceOf(await reactors.deploy(SLOW));
    const answers = await Promise.all([1, 2, 3].map(() => post(instance, instance.credential, { ms: 300 })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 503, 503]);
    expect(answers.find(({ status }) => status === 503)!.headers.get('x-reactor-busy')).to.equal('1');
    expect((await post(instance, instance.credential, { ms: 0 })).status).to.equal(200);
  });

  it('runs invocations beside each other up to its concurrency', async () => {
    const reactor = await reactors.deploy(SLOW, { scaling: { ...DEFAULT_SCALING, concurrency: 3 } });
    const instance = instanceOf(reactor);
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(instance, instance.credential, { ms: 300 })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 200, 503]);
  });

  it('takes no more than so many calls beside one that goes on, to come to a look at its memory', async () => {
    const workload = workloadOf(SLOW, { scaling: { ...DEFAULT_SCALING, concurrency: 2 } });
    const instance = new Instance({ workload, onStopped: () => undefined });
    await instance.start();
    const call = (ms: number) => instance.invoke({ revision: '', args: { ms }, traceId: 't', timeoutMs: 20_000 });
    const long = call(9_500);
    let beside = 0;
    for (; instance.isFree && beside < 150; beside += 1) await call(0);
    expect([beside, instance.inFlight]).to.deep.equal([99, 1]);
    await instance.kill();
    await long;
  });

  it('never lets invocations that come at the same time meet', async () => {
    const reactor = await reactors.deploy('module.exports = async (req) => ({ raw: req.args.mine })', {
      scaling: { ...DEFAULT_SCALING, concurrency: 10 },
    });
    for (let round = 0; round < 10; round += 1) {
      const mine = [1, 2, 3, 4, 5].map((number) => round * 5 + number);
      const outcomes = await Promise.all(mine.map((number) => reactor.invoke({ mine: number })));
      expect(outcomes).to.deep.equal(mine.map((raw) => ({ kind: 'returned', raw })));
    }
  });

  it('fails the invocations beside one that breaks the process, and no later one', async () => {
    const code = `module.exports = async (req) => { if (req.args.loop) while (1); await new Promise((r) => setTimeout(r, req.args.ms)); return {} }`;
    const reactor = await reactors.deploy(code, {
      scaling: { ...DEFAULT_SCALING, concurrency: 2 },
    });
    await reactor.invoke({ ms: 0 });
    const outcomes = await Promise.all([
      reactor.invoke({ ms: 5_000 }),
      reactor.invoke({ loop: true }, { timeoutMs: 300 }),
    ]);
    expect(outcomes.map(({ kind }) => kind).sort()).to.deep.equal(['crashed', 'timed-out']);
    expect((await reactor.invoke({ ms: 0 })).kind).to.equal('returned');
  });

  it('holds invocations for a reactor with two instances, and runs both', async () => {
    const reactor = await reactors.deploy(SLOW, {}, 2);
    const { tenantId, reactorId } = reactor.workload;
    const outcomes = Promise.all([1, 2, 3, 4].map(() => reactor.invoke({ ms: 300 })));
    // Each instance runs one at a time, so two in flight are one on each.
    await until(() => reactors.client.demand().some(({ inFlight, waiting }) => inFlight === 2 && waiting === 2));
    const demand = reactors.client.demand().filter((one) => one.reactorId === reactorId);
    expect(demand).to.have.length(1);
    expect(demand[0]).to.deep.include({ tenantId, reactorId, inFlight: 2, waiting: 2 });
    expect((await outcomes).map(({ kind }) => kind)).to.deep.equal(Array(4).fill('returned'));
  });
});
