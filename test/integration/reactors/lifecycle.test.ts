import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ReactorInstance } from '../../../src/domain/declarations.ts';
import { confinement } from '../../../src/reactors/host/confinement.ts';
import { Instance } from '../../../src/reactors/host/instance.ts';
import { descendantsOf, isRunning } from '../../support/processes.ts';
import type { ProcessIdentity } from '../../support/processes.ts';
import { REACTOR_COMMAND, createReactorHarness, stateOf, until, workloadOf } from '../../support/reactors.ts';
import type { ReactorHarness } from '../../support/reactors.ts';

/**
 * Supervisors of this process and what runs under them, each before its own; not what else the test run has started.
 */
function reactorProcesses(): ProcessIdentity[] {
  return descendantsOf(process.pid)
    .filter(({ pid }) => commandLineOf(pid).includes(REACTOR_COMMAND[0]!))
    .flatMap((supervisor) => [supervisor, ...descendantsOf(supervisor.pid)])
    .filter(isRunning);
}

/** The process of the code, and before it, in namespaces of its own, the one that holds it there. */
const PROCESSES_OF_CODE = confinement() === 'namespaces' ? 2 : 1;

/** Empty for a process that has ended. */
function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Whether the one instance has begun to run something: it has no room for more. */
async function isBusy({ address, credential, revision }: ReactorInstance): Promise<boolean> {
  const body = JSON.stringify({ revision, args: {}, traceId: 't', timeoutMs: 5_000 });
  const headers = { authorization: `Bearer ${credential}` };
  return (await fetch(`${address}/invoke`, { method: 'POST', headers, body })).status === 503;
}

describe('the life of reactor instances', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  beforeEach(() => {
    reactors = createReactorHarness();
  });
  afterEach(() => reactors.stop());

  it('lets what nobody waits for end in an instance that leaves, and ends an idle one at once', async () => {
    const sleeper =
      'module.exports = async ({ args: { ms } }) => (await new Promise((r) => setTimeout(r, ms)), { raw: 1 });';
    const [busy, idle] = await Promise.all([1, 2].map(() => reactors.deploy(sleeper, { timeoutSeconds: 1 })));
    const { tenantId, reactorId, revision } = busy!.workload;
    // Longer than a caller who waits could wait, and than such an instance is given to leave.
    const running = reactors.client.invoke({
      ...{ tenantId, reactorId, revision, args: { ms: 9_000 }, traceId: 't', timeoutMs: 30_000, asynchronous: true },
    });
    let hasEnded = false;
    void running.then(() => (hasEnded = true));
    const [instance] = stateOf(reactors.runtime, busy!.workload)!.ready;
    await until(() => isBusy(instance!));
    const left = reactors.runtime.remove(tenantId, reactorId);
    await reactors.runtime.remove(tenantId, idle!.workload.reactorId);
    expect(hasEnded).to.equal(false);
    expect(await running).to.include({ kind: 'returned', raw: 1 });
    await left;
  });

  it('leaves no process behind when the parent is killed', async () => {
    const entry = fileURLToPath(new URL('../../support/reactor-parent.ts', import.meta.url));
    const parent = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    const below = descendantsOf(parent.pid!);
    expect(below).to.have.length(2 + PROCESSES_OF_CODE);
    parent.kill('SIGKILL');
    await until(() => !below.some(isRunning), 5_000);
  });

  it('ends every process within 5 s when it is stopped, also in the middle of a run', async () => {
    const reactor = await reactors.deploy('module.exports = async (req) => { while (req.args.loop); return {}; }');
    const running = reactor.invoke({ loop: true });
    const below = reactorProcesses();
    expect(below).to.have.length(1 + PROCESSES_OF_CODE);
    await until(() => isBusy(stateOf(reactors.runtime, reactor.workload)!.ready[0]!));
    const begun = performance.now();
    await reactors.runtime.stop();
    expect(performance.now() - begun).to.be.below(5_000);
    expect(below.filter(isRunning)).to.deep.equal([]);
    expect((await running).kind).to.equal('crashed');
  });

  it('has ended the process of the code, also one that is only being loaded, once an instance says so', async () => {
    const others = descendantsOf(process.pid);
    const childProcesses = (): ProcessIdentity[] =>
      descendantsOf(process.pid).filter(({ pid }) => !others.some((other) => other.pid === pid));
    for (const breaksFirst of [false, true]) {
      const workload = workloadOf('module.exports = async () => { while (1); }');
      const replaced = Promise.withResolvers<void>();
      const instance = new Instance({ workload, onStopped: () => replaced.resolve() });
      expect(await instance.start()).to.equal(undefined);
      const [first] = childProcesses();
      const running = instance.invoke({
        revision: workload.revision,
        args: {},
        traceId: 't',
        timeoutMs: breaksFirst ? 100 : 10_000,
      });
      if (breaksFirst) await Promise.all([running, replaced.promise]);
      const below = childProcesses();
      expect(below.some(({ pid }) => pid === first!.pid)).to.equal(!breaksFirst);
      // One that is only being started has not come to its second process yet, or has a tool of its shell's beside it.
      expect(below).to.have.length.within(1, PROCESSES_OF_CODE + 1);
      await instance.kill();
      expect(below.filter(isRunning)).to.deep.equal([]);
      expect((await running).kind).to.equal(breaksFirst ? 'timed-out' : 'crashed');
    }
  });

  it('replaces a revision without failing an invocation', async () => {
    const reactor = await reactors.deploy('module.exports = async () => ({ raw: 1 })');
    const { tenantId, reactorId } = reactor.workload;
    let revision = reactor.workload.revision;
    let swapped = false;
    const seen = new Set<unknown>();
    const traffic = (async () => {
      while (!swapped) {
        const outcome = await reactor.invoke({}, { revision });
        expect(outcome.kind).to.equal('returned');
        seen.add((outcome as { raw: unknown }).raw);
      }
    })();
    const next = workloadOf('module.exports = async () => ({ raw: 2 })', { reactorId });
    await reactors.runtime.apply(next, 1);
    await until(() => stateOf(reactors.runtime, next)!.ready.some((instance) => instance.revision === next.revision));
    expect(stateOf(reactors.runtime, next)!.ready).to.have.length(2);
    revision = next.revision;
    await until(() => seen.has(2) && stateOf(reactors.runtime, next)!.ready.length === 1);
    swapped = true;
    await traffic;
    expect([...seen]).to.deep.equal([1, 2]);
    await reactors.runtime.remove(tenantId, reactorId);
    expect(stateOf(reactors.runtime, next)).to.equal(undefined);
  });

  it('starts an instance again that was killed', async () => {
    const reactor = await reactors.deploy('module.exports = async () => ({ raw: 1 })');
    const [supervisor] = reactorProcesses();
    const before = stateOf(reactors.runtime, reactor.workload)!.ready[0]!.address;
    process.kill(supervisor!.pid, 'SIGKILL');
    await until(() => {
      const [instance] = stateOf(reactors.runtime, reactor.workload)!.ready;
      return instance !== undefined && instance.address !== before;
    });
    expect(await reactor.invoke()).to.deep.equal({ kind: 'returned', raw: 1 });
  });

  it('scales to the number asked for, and to none', async () => {
    const reactor = await reactors.deploy('module.exports = async () => ({ raw: 1 })', {}, 2);
    await reactors.runtime.apply(reactor.workload, 0);
    await until(() => reactorProcesses().length === 0);
    expect(stateOf(reactors.runtime, reactor.workload)).to.deep.include({ ready: [], desired: 0 });
  });

  it('says what a person can act on when code cannot be loaded', async () => {
    const workload = workloadOf('\nmodule.exports = {');
    await reactors.runtime.apply(workload, 1);
    await until(() => stateOf(reactors.runtime, workload)?.failure !== undefined);
    expect(stateOf(reactors.runtime, workload)!.failure).to.equal('The code has a syntax error (line 2).');
  });

  it('says so when the code had to be stopped again and again', async () => {
    const reactor = await reactors.deploy('module.exports = async () => { while (1); }', { timeoutSeconds: 0.1 });
    for (let run = 0; run < 5; run += 1) await reactor.invoke();
    await until(() => stateOf(reactors.runtime, reactor.workload)?.failure !== undefined);
    expect(stateOf(reactors.runtime, reactor.workload)!.failure).to.match(/stopped 5 times .* did not finish in time/);
    expect(stateOf(reactors.runtime, reactor.workload)!.failureReason).to.equal('Degraded');
  });

  it('lets an invocation end that runs when its reactor is removed', async () => {
    const reactor = await reactors.deploy(
      'module.exports = async () => { await new Promise((r) => setTimeout(r, 300)); return { raw: 1 } }',
    );
    const running = reactor.invoke();
    const [{ address, credential }] = stateOf(reactors.runtime, reactor.workload)!.ready as [ReactorInstance];
    const headers = { authorization: `Bearer ${credential}` };
    await until(async () => (await fetch(`${address}/readyz`, { headers })).status === 503);
    await reactors.runtime.remove(reactor.workload.tenantId, reactor.workload.reactorId);
    expect(await running).to.deep.equal({ kind: 'returned', raw: 1 });
  });

  it('gives the code no environment, no files and no argument to read', async () => {
    await reactors.deploy('module.exports = async () => ({})', { configuration: { password: 'pa55word' } });
    for (const { pid } of reactorProcesses()) {
      const visible = readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      expect(visible).not.to.contain('pa55word');
    }
    const child = reactorProcesses().at(-1)!.pid;
    expect(readFileSync(`/proc/${child}/environ`, 'utf8')).to.equal('');
    expect(readFileSync(`/proc/${child}/cmdline`, 'utf8'))
      .to.contain('--jitless')
      .and.contain('--permission');
    expect(readFileSync(`/proc/${child}/limits`, 'utf8')).to.match(/Max core file size +0 +0/);
  });
});
