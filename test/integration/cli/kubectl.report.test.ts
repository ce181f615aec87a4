import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createCanaryScanner, randomCardNumber, randomSecret } from '../../support/canary.ts';
import { requireKubernetes } from '../../support/kubernetes/control-plane.ts';
import { createKubectlStage } from '../../support/kubectl/stage.ts';
import type { KubectlStage } from '../../support/kubectl/stage.ts';

const canaries: Record<string, string> = {};

/** A secret of its own for each place that somebody could write one to. */
function canary(place: string): string {
  return (canaries[place] ??= `c${randomSecret().replaceAll(/[^A-Za-z0-9]/g, '')}`);
}

describe('kubectl tokenkeep report', function () {
  this.timeout(60_000);
  let stage: KubectlStage;
  let system: string;
  let namespace: string;
  let metrics: Server;
  let home: string;
  let card: string;

  before(async function () {
    this.timeout(600_000);
    stage = await createKubectlStage(await requireKubernetes(this));
    home = await mkdtemp(join(tmpdir(), 'tokenkeep-report-'));
    [system, namespace] = [await stage.namespace(), await stage.namespace()];
    card = canaries['a card'] = randomCardNumber();
    metrics = createServer((_, response) => {
      response.end(`# HELP up fine\ntokenkeep_up{pod="${canary('code')}"} 1764000000000.25\nother ${card.length}\n`);
    }).listen(0, '127.0.0.1');
    await once(metrics, 'listening');

    await stage.pod({
      ...{ name: 'api', namespace: system, container: 'api' },
      labels: { 'app.kubernetes.io/name': 'tokenkeep', 'app.kubernetes.io/component': 'api', own: canary('label') },
      args: ['api', '--port=8080', `--database-url=postgres://api:${canary('password')}@db/vault`, canary('argument')],
      ports: { metrics: (metrics.address() as AddressInfo).port },
      extra: { env: [{ name: canary('variable'), value: canary('environment') }], command: [canary('command')] },
    });
    // Somebody else's, beside the vault.
    await stage.pod({
      ...{ name: 'cache', namespace: system, container: 'redis', labels: {} },
      args: ['--requirepass', canary('argument of another'), `--password=${canary('flag of another')}`],
    });
    await stage.declare({
      ...{ kind: 'Application', name: 'payments', namespace },
      metadata: { annotations: { note: canary('annotation'), [canary('annotation key')]: 'x' } },
      spec: { type: 'private', displayName: canary('display name') },
      status: {
        ...{ id: 'a-1', secretName: 'payments-api-key' },
        conditions: [
          {
            ...{ type: 'Ready', status: 'False', reason: 'Broken', observedGeneration: 1 },
            // As one that quotes what it must not.
            message: `${canary('display name')} and ${card}, ${card.replaceAll(/(....)(?=.)/g, '$1 ')} of shop`,
            lastTransitionTime: new Date().toISOString(),
          },
        ],
      },
    });
    await stage.declare({
      ...{ kind: 'Reactor', name: 'score', namespace },
      spec: {
        displayName: canary('display name of a reactor'),
        code: `// first\nmodule.exports = () => '${canary('code')}';\n`,
        configuration: { [canary('configuration key')]: canary('configuration') },
        applicationRef: { name: 'payments' },
        egress: { allow: [`${canary('host').toLowerCase()}.example:443`] },
      },
    });
    canaries['host'] = canary('host').toLowerCase();
    await stage.declare({
      ...{ kind: 'AccessRule', name: 'rule', namespace },
      spec: {
        ...{ applicationRef: { name: 'payments' }, description: canary('description'), priority: 1 },
        ...{ container: '/', transform: 'mask', permissions: ['token:read'] },
      },
    });
    await stage.secret(namespace, 'payments-api-key', { 'api-key': canary('Secret') });
    const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e1' }, type: 'Warning', reason: 'Refused' };
    await stage.admin.create(
      { group: '', version: 'v1', plural: 'events', namespace },
      {
        ...{ ...event, involvedObject: { kind: 'Reactor', name: 'score', namespace } },
        message: `line 2 of module.exports = () => '${canary('code')}'; is wrong`,
      },
    );
    const line = { level: 'info', time: '2026-11-22T07:00:00.123Z', traceId: '1c1f3b7e-0000-4000-8000-123456789012' };
    const lines = [
      line,
      { ...line, said: canary('configuration') },
      { ...line, said: `${card} key_test_us_${canary('key')} postgres://u:p@${canary('url')}@db/x` },
      { ...line, said: `Bearer ${canary('bearer')}, password=${canary('password of a message')}` },
    ];
    stage.kubelet.log(`${system}/api`, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
  });
  after(async () => {
    metrics?.close();
    await stage?.close();
    if (home !== undefined) await rm(home, { recursive: true });
  });

  async function report(name: string, kubeconfig?: string) {
    const file = join(home, `${name}.tar.gz`);
    const args = ['report', '--file', file, '-n', namespace, '--system-namespace', system];
    const ended = await stage.run(args, kubeconfig === undefined ? {} : { kubeconfig });
    return { ...ended, file };
  }

  async function contentOf(file: string, path: string): Promise<string> {
    const { stdout } = await promisify(execFile)('tar', ['-xzOf', file, path]);
    return stdout;
  }

  it('holds states, events, logs and metrics, and says what it holds', async () => {
    const { code, stdout, stderr, file } = await report('whole');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const listed = (await promisify(execFile)('tar', ['-tzf', file])).stdout.trim().split('\n');
    expect(listed).to.include.members([
      ...['report.json', 'version.json', 'resources/reactors.json', `${system}/pods.json`, `${namespace}/events.json`],
      ...['logs/api.log', 'metrics/api.txt'],
    ]);
    expect(
      stdout
        .trim()
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('  ')[0]),
    ).to.deep.equal(listed);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);

    const [application] = JSON.parse(await contentOf(file, 'resources/applications.json'));
    expect(application.metadata.name).to.equal('payments');
    expect(application.spec.type).to.equal('private');
    expect(application.status.conditions[0]).to.include({ status: 'False', reason: 'Broken' });
    expect(application.status.conditions[0].message).to.match(/^redacted:\S+ and redacted:\S+, redacted:\S+ of shop$/);
    const [pod] = JSON.parse(await contentOf(file, `${system}/pods.json`));
    expect(pod.spec.containers[0].args.slice(0, 2)).to.deep.equal(['api', '--port=8080']);
    expect(pod.spec.containers[0].args[2]).to.match(/^--database-url=redacted:[a-z]+:\d+$/);
    expect(pod.status.phase).to.equal('Running');
    expect(JSON.parse(await contentOf(file, 'version.json'))[0].gitVersion).to.match(/^v1\./);
    const log = await contentOf(file, 'logs/api.log');
    expect(log.split('\n')[0])
      .to.include('2026-11-22T07:00:00.123Z')
      .and.include('1c1f3b7e-0000-4000-8000-123456789012');
    expect(await contentOf(file, 'metrics/api.txt')).to.match(
      /^tokenkeep_up\{pod="redacted:\S+"\} 1764000000000\.25$/m,
    );
  });

  it('holds nothing of what is planted in any field, Secret, log or metric', async () => {
    const { file, stdout, stderr } = await report('searched');
    const unpacked = (await promisify(execFile)('tar', ['-xzOf', file])).stdout;
    const scanner = createCanaryScanner(canaries);
    expect(Object.keys(canaries)).to.have.length.above(15);
    expect(unpacked.length).to.be.above(5_000);
    expect(scanner.scan('bundle', `${unpacked}${stdout}${stderr}`)).to.deep.equal([]);
    // The scan does see them where they are.
    const plain = await stage.cluster.demand(['get', 'reactors,applications,secrets', '-n', namespace, '-o', 'yaml']);
    expect(scanner.scan('cluster', plain).map((seen) => seen.canary)).to.include.members(['code', 'Secret', 'a card']);
  });

  it('holds less for who may see less, and says what is missing', async () => {
    const kubeconfig = await stage.kubeconfigWith(namespace, 'list applications,reactors');
    const { code, stderr, file } = await report('partial', kubeconfig);
    expect(code).to.equal(0);
    expect(stderr).to.match(/^Without resources\/accessrules: .*cannot list resource "accessrules"/m);
    expect(stderr).to.match(/^Without pods of the api: .*cannot list resource "pods"/m);
    const { missing } = JSON.parse(await contentOf(file, 'report.json'));
    expect(missing.map(({ what }: { what: string }) => what)).to.include('resources/tenants');
    expect(JSON.parse(await contentOf(file, 'resources/reactors.json'))).to.have.length(1);
  });

  it('replaces no file', async () => {
    await report('twice');
    const before = await readFile(join(home, 'twice.tar.gz'));
    const again = await report('twice');
    expect(again.code).to.equal(1);
    expect(again.stderr).to.include('cannot be written (EEXIST)');
    expect(await readFile(join(home, 'twice.tar.gz'))).to.deep.equal(before);
  });
});
