import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { requireKubernetes } from '../../support/kubernetes/control-plane.ts';
import { createKubectlStage, MAIN } from '../../support/kubectl/stage.ts';
import type { KubectlStage } from '../../support/kubectl/stage.ts';

const ID = '1c1f3b7e-0000-4000-8000-000000000001';
/** Far less than a server takes to stop, on however slow a machine. */
const PROMPT_MS = 5_000;
const TENANT = '5e9d2a64-0000-4000-8000-000000000001';

describe('kubectl tokenkeep reactor logs', function () {
  this.timeout(60_000);
  let stage: KubectlStage;
  let system: string;
  let reactors: string;
  let namespace: string;
  let args: string[];
  const following = new Set<ChildProcess>();

  before(async function () {
    this.timeout(600_000);
    stage = await createKubectlStage(await requireKubernetes(this));
    [system, reactors, namespace] = [await stage.namespace(), await stage.namespace(), await stage.namespace()];
    args = ['reactor', 'logs', 'score', '-n', namespace, '--system-namespace', system];
    await stage.pod({
      ...{ name: 'operator', namespace: system, container: 'operator' },
      labels: { 'app.kubernetes.io/name': 'tokenkeep', 'app.kubernetes.io/component': 'operator' },
      args: ['operator', `--reactor-namespace=${reactors}`],
    });
    await stage.declare({
      ...{ kind: 'Reactor', name: 'score', namespace, spec: { code: '1', applicationRef: { name: 'payments' } } },
      status: { id: ID, tenantId: TENANT },
    });
    await instance('score-1', TENANT);
    // Another tenant's, under the same id.
    await instance('stranger', '5e9d2a64-0000-4000-8000-000000000002');
    stage.kubelet.log(`${reactors}/score-1`, 'first\nsecond\nthird\n');
    stage.kubelet.log(`${reactors}/stranger`, 'of somebody else\n');
  });
  after(async () => {
    for (const child of following) child.kill('SIGKILL');
    await stage?.close();
  });

  const instance = (name: string, tenantId: string): Promise<void> =>
    stage.pod({
      ...{ name, namespace: reactors, container: 'reactor' },
      labels: { 'tokenkeep.dev/reactor-id': ID, 'tokenkeep.dev/tenant-id': tenantId },
    });

  it('shows what the instances of the reactor have logged, and no other tenant’s', async () => {
    expect(await stage.run(args)).to.deep.equal({ code: 0, stdout: 'first\nsecond\nthird\n', stderr: '' });
    expect((await stage.run([...args, '--tail', '1'])).stdout).to.equal('third\n');
  });

  it('follows them, also one that starts later and one whose log ends', async () => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'kubectl', ...args, '-f'], {
      env: { KUBECONFIG: stage.cluster.adminKubeconfig },
    });
    following.add(child);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const includes = (line: string) =>
      eventually(() => expect(output.split('\n')).to.include(line), { deadlineMs: 20_000 });
    await includes('[score-1] third');
    stage.kubelet.log(`${reactors}/score-1`, 'fourth\n');
    await includes('[score-1] fourth');
    stage.kubelet.endLog(`${reactors}/score-1`);
    stage.kubelet.log(`${reactors}/score-2`, 'hello\n');
    await instance('score-2', TENANT);
    await includes('[score-2] hello');
    expect(output).to.not.include('somebody else');
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(PROMPT_MS) });
    child.kill('SIGINT');
    expect(await exited).to.deep.equal([130, null]);
  });

  it('says what is missing', async () => {
    const nobody = await stage.run(['reactor', 'logs', 'none', '-n', namespace, '--system-namespace', system]);
    expect(nobody.stderr).to.include(`there is no Reactor none in the namespace ${namespace}`);
    const idle = await stage.run([...args, '--reactor-namespace', 'default']);
    expect(idle).to.deep.equal({
      ...{ code: 0, stdout: '', stderr: 'No instance of score runs in the namespace default\n' },
    });
    const blind = await stage.run(args, { kubeconfig: await stage.kubeconfigWith(namespace, 'get reactors') });
    expect(blind).to.include({ code: 1, stdout: '' });
    expect(blind.stderr).to.match(/cannot list resource "pods".*; give --reactor-namespace/);
  });
});
