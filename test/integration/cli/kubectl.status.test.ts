import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { requireKubernetes } from '../../support/kubernetes/control-plane.ts';
import { requireKubernetesPrograms } from '../../support/kubernetes/programs.ts';
import { createKubectlStage, runPlugin } from '../../support/kubectl/stage.ts';
import type { KubectlStage } from '../../support/kubectl/stage.ts';

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/kubectl-tokenkeep.js', import.meta.url));
const NOW = new Date().toISOString();

const ready = (status: 'True' | 'False', reason: string, message: string) => ({
  conditions: [{ type: 'Ready', status, reason, message, observedGeneration: 1, lastTransitionTime: NOW }],
});

describe('kubectl tokenkeep status', function () {
  this.timeout(60_000);
  let stage: KubectlStage;
  let namespace: string;
  let broken: string;
  let kubectl: string;

  before(async function () {
    this.timeout(600_000);
    stage = await createKubectlStage(await requireKubernetes(this));
    ({ kubectl } = await requireKubernetesPrograms(this));
    namespace = await stage.namespace();
    broken = await stage.namespace();
    const status = { ...ready('True', 'Ready', 'The API holds it'), id: 'a-1', secretName: 'shop-api-key' };
    await stage.declare({ kind: 'Application', name: 'shop', namespace, spec: { type: 'private' }, status });
    await stage.declare({
      ...{ kind: 'Application', name: 'till', namespace: broken, spec: { type: 'public' } },
      status: ready('False', 'SecretNotOurs', 'Secret till-api-key exists and was not made by the operator'),
    });
  });
  after(() => stage?.close());

  it('shows each resource with its columns and the message, and ends with 0 where all are Ready', async () => {
    const { code, stdout, stderr } = await stage.run(['status', '-n', namespace]);
    expect(stderr).to.equal('');
    const [header, row, ...others] = stdout.slice(stdout.indexOf('NAMESPACE')).trim().split('\n');
    expect(header?.split(/ {3,}/)).to.deep.equal([
      'NAMESPACE',
      'NAME',
      'TYPE',
      'SECRET',
      'READY',
      'REASON',
      'AGE',
      'MESSAGE',
    ]);
    const cells = row?.split(/ {3,}/) ?? [];
    expect(cells[6]).to.match(/^\d+[sm]$/);
    expect(cells.toSpliced(6, 1)).to.deep.equal([
      ...[namespace, 'application.tokenkeep.dev/shop', 'private', 'shop-api-key', 'True', 'Ready', 'The API holds it'],
    ]);
    expect(others).to.deep.equal([]);
    expect(code).to.equal(0);
  });

  it('ends with 1 where one is not Ready, in the namespace or in any', async () => {
    const one = await stage.run(['status', '-n', broken]);
    expect(one.code).to.equal(1);
    expect(one.stdout).to.include('SecretNotOurs').and.include('was not made by the operator');
    const all = await stage.run(['status', '-A']);
    expect(all.code).to.equal(1);
    expect(all.stdout).to.include(namespace).and.include(broken);
  });

  it('shows the wide columns, and the resources themselves as JSON and YAML', async () => {
    expect((await stage.run(['status', '-n', namespace, '-o', 'wide'])).stdout).to.match(/ ID .*\n.* a-1 /);
    for (const [format, read] of [
      ['json', (text: string): unknown => JSON.parse(text)],
      ['yaml', (text: string): unknown => parse(text)],
    ] as const) {
      const { stdout } = await stage.run(['status', '-n', namespace, '-o', format]);
      const { items } = read(stdout) as { items: { kind: string; metadata: object; status: { id: string } }[] };
      const own = items.filter(({ kind }) => kind === 'Application');
      expect(own.map(({ status }) => status.id)).to.deep.equal(['a-1']);
      expect(own[0]!.metadata).to.not.have.property('managedFields');
    }
  });

  it('is found by kubectl itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-plugin-'));
    try {
      await symlink(LAUNCHER, join(folder, 'kubectl-tokenkeep'));
      const env = { PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: stage.cluster.adminKubeconfig, HOME: folder };
      const { stdout } = await promisify(execFile)(kubectl, ['tokenkeep', 'status', '-n', namespace], { env });
      expect(stdout).to.include('application.tokenkeep.dev/shop');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('does without Tenants for who may not see them, and says which verb is missing for the rest', async () => {
    const rules = ['list applications,accessrules,reactors'];
    const partly = await stage.run(['status', '-n', namespace], {
      kubeconfig: await stage.kubeconfigWith(namespace, ...rules),
    });
    expect(partly.code).to.equal(0);
    expect(partly.stderr).to.match(/^Without Tenants: .*cannot list resource "tenants"/);

    const hardly = await stage.run(['status', '-n', namespace], {
      kubeconfig: await stage.kubeconfigWith(namespace, 'get applications'),
    });
    expect(hardly.code).to.equal(1);
    expect(hardly.stderr).to.include('the cluster does not let you').and.include('cannot list resource "applications"');
    expect(hardly.stdout).to.equal('');
  });

  it('says why there is no cluster to look at', async () => {
    const none = await runPlugin(['status'], { KUBECONFIG: '/nowhere/config' });
    expect(none).to.include({ code: 1, stdout: '' });
    expect(none.stderr).to.include('No kubeconfig is given');
    const missing = await runPlugin(['status', '--kubeconfig', '/nowhere/config']);
    expect(missing.stderr).to.include('/nowhere/config cannot be read (ENOENT)');
    const context = await stage.run(['status', '--context', 'elsewhere']);
    expect(context.stderr).to.include('no context of that name; it has: test');

    const stranger = JSON.stringify({
      ...{ 'current-context': 'gone', contexts: [{ name: 'gone', context: { cluster: 'gone', user: 'gone' } }] },
      clusters: [{ name: 'gone', cluster: { server: 'https://127.0.0.1:9' } }],
      users: [{ name: 'gone', user: {} }],
    });
    const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-plugin-'));
    await writeFile(join(folder, 'config'), stranger);
    const gone = await runPlugin(['status'], { KUBECONFIG: join(folder, 'config') });
    expect(gone.stderr).to.include('no cluster answers at https://127.0.0.1:9');
    // Of both files: the current context is the first one's.
    const both = `${join(folder, 'config')}:${stage.cluster.adminKubeconfig}`;
    const chosen = await runPlugin(['status', '-n', namespace, '--context', 'test'], { KUBECONFIG: both });
    expect(chosen.code).to.equal(0);
    expect((await runPlugin(['status'], { KUBECONFIG: both })).stderr).to.include('no cluster answers');
    await rm(folder, { recursive: true });
  });
});
