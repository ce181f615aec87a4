import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { expectDocumented } from '../../support/metrics/documented.ts';
import { requirePromtool } from '../../support/metrics/promtool.ts';
import { requireKubernetes, type KubernetesCluster } from '../../support/kubernetes/control-plane.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { runProgram } from '../../support/program.ts';
import { plantedCanary } from '../../support/run-canaries.ts';
import { startApiProgram, type ApiProgram } from '../../support/roles/api-program.ts';
import { issueCertificate } from '../../support/roles/issue-certificate.ts';
import { startOperatorProgram, type OperatorProgram } from '../../support/roles/operator-program.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

const OPERATOR = 'tokenkeep-system/tokenkeep-operator';
const API = 'tokenkeep-system/tokenkeep-api';
const LEASE = ['lease', 'tokenkeep-operator', '-n', 'tokenkeep-system'];
const DEADLINE = { deadlineMs: 60_000, everyMs: 100 };

const application = (name: string, namespace: string): object => ({
  ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application', metadata: { name, namespace } },
  spec: {
    type: 'private',
    permissions: ['token:create'],
    rules: [{ description: 'All', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
  },
});

describe('tokenkeep operator', function () {
  this.timeout(300_000);
  let cluster: KubernetesCluster;
  let transit: TestTransit;
  let database: TestDatabase;
  let folder: string;
  let api: ApiProgram;
  let namespace: string;
  let common: string[];
  let running: OperatorProgram[] = [];

  before(async function () {
    cluster = await requireKubernetes(this);
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-operator-'));
    const { certFile, keyFile } = await issueCertificate(transit.server, folder);
    const token = await cluster.tokenFor(OPERATOR, 'tokenkeep');
    await writeFile(join(folder, 'token'), token);
    api = await startApiProgram({
      ...{ database, transit, vaultToken: await transit.tokenFor('tokenkeep-api') },
      flags: [
        ...['--kubeconfig', await cluster.kubeconfigFor(API), '--control-plane-service-accounts', OPERATOR],
        ...['--internal-tls-cert-file', certFile, '--internal-tls-key-file', keyFile],
      ],
    });
    namespace = await cluster.namespace();
    common = [
      ...['--kubeconfig', await cluster.kubeconfigFor(OPERATOR), '--watch-namespaces', namespace],
      ...['--internal-url', api.internalUrl, '--internal-ca-file', transit.server.caFile],
      ...['--internal-token-file', join(folder, 'token'), '--public-url', api.baseUrl],
      ...['--leader-election-namespace', 'tokenkeep-system'],
    ];
  });
  after(async () => {
    await api?.stop();
    await database?.dispose();
    await transit?.dispose();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });
  afterEach(async () => {
    await Promise.all(running.map((operator) => operator.kill()));
    running = [];
    // A lease that nobody gave up would hold back the next test.
    await cluster.kubectl(['delete', ...LEASE, '--ignore-not-found']);
  });

  async function start(flags: readonly string[] = []): Promise<OperatorProgram> {
    const operator = await startOperatorProgram([...common, ...flags]);
    running.push(operator);
    return operator;
  }

  const apply = (object: object) => cluster.demand(['apply', '-f', '-'], { input: JSON.stringify(object) });

  async function readyCondition(kind: string, name: string): Promise<{ status: string; reason: string }> {
    const text = await cluster.demand(['get', `${kind}.tokenkeep.dev`, name, '-n', namespace, '-o', 'json']);
    const { status } = JSON.parse(text) as {
      status?: { conditions?: { type: string; status: string; reason: string }[] };
    };
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready === undefined) throw new Error(`${name} has no condition Ready`);
    return ready;
  }

  async function secretEntry(name: string, entry: string): Promise<string> {
    const jsonPath = `-o=jsonpath={.data.${entry}}`;
    const text = await cluster.demand(['get', 'secret', name, '-n', namespace, jsonPath]);
    expect(text).not.to.equal('');
    return Buffer.from(text, 'base64').toString('utf8');
  }

  const holder = (): Promise<string> => cluster.demand(['get', ...LEASE, '-o=jsonpath={.spec.holderIdentity}']);

  it('makes an applied Application one whose key works at the public API', async () => {
    await start();
    await apply(application('shop', namespace));
    const key = plantedCanary(
      'key of an application in a cluster',
      await eventually(() => secretEntry('shop-api-key', 'api-key'), DEADLINE),
    );
    const baseUrl = await secretEntry('shop-api-key', 'base-url');
    expect(baseUrl).to.equal(api.baseUrl);
    await eventually(async () => {
      const headers = { 'svc-api-key': key, 'content-type': 'application/json' };
      const body = JSON.stringify({ type: 'token', data: 'made in a cluster' });
      expect((await fetch(`${baseUrl}/tokens`, { method: 'POST', headers, body })).status).to.equal(201);
    }, DEADLINE);
    await eventually(async () => {
      expect(await readyCondition('application', 'shop')).to.include({ status: 'True', reason: 'Reconciled' });
    }, DEADLINE);
  });

  it('has a Reactor wait, and says that nothing runs it', async () => {
    await start();
    const spec = { code: 'module.exports = () => ({});' };
    const metadata = { name: 'waits', namespace };
    await apply({ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Reactor', metadata, spec });
    await eventually(async () => {
      expect(await readyCondition('reactor', 'waits')).to.include({ status: 'False', reason: 'NoRuntime' });
    }, DEADLINE);
    await cluster.demand(['delete', 'reactor.tokenkeep.dev', 'waits', '-n', namespace, '--timeout=60s']);
  });

  it('gives its lease up and exits 0 when it is asked to end; the candidate that waited goes on', async () => {
    const leader = await start();
    await leader.leading();
    const candidate = await start();
    expect((await fetch(`${candidate.healthUrl}/readyz`)).status).to.equal(200);
    expect((await fetch(`${candidate.healthUrl}/healthz`)).status).to.equal(200);
    expect(candidate.output().stdout).not.to.include('leading');
    const held = await holder();
    expect(held).not.to.equal('');

    const { code, stderr } = await leader.stop();
    expect(code, stderr).to.equal(0);
    await candidate.leading();
    expect(await holder()).not.to.equal(held);
    expect((await candidate.stop()).code).to.equal(0);
    expect(await holder()).to.equal('');
  });

  it('ends at once with code 1 where another one has taken its lease', async () => {
    const operator = await start();
    await operator.leading();
    const spec = { holderIdentity: 'another', leaseDurationSeconds: 3600, renewTime: '2100-01-01T00:00:00.000000Z' };
    await cluster.demand(['patch', ...LEASE, '--type=merge', '-p', JSON.stringify({ spec })]);
    const { code, stderr } = await operator.ended();
    expect(code).to.equal(1);
    expect(stderr).to.include('Leads no more').and.include('ends at once');
    expect(await holder()).to.equal('another');
  });

  it('leads without a lease where it is told that there is no other', async () => {
    await (await start(['--leader-election', 'off'])).leading();
    expect((await cluster.kubectl(['get', ...LEASE])).code).not.to.equal(0);
  });

  it('reads its token anew: one that was replaced goes on working', async () => {
    await writeFile(join(folder, 'token'), 'not-a-token');
    try {
      const operator = await start();
      await operator.leading();
      await apply(application('later', namespace));
      await eventually(() => expect(operator.output().stderr).to.include('The internal API is away'), DEADLINE);
    } finally {
      await writeFile(join(folder, 'token'), await cluster.tokenFor(OPERATOR, 'tokenkeep'));
    }
    await eventually(async () => {
      expect(await readyCondition('application', 'later')).to.include({ status: 'True' });
    }, DEADLINE);
  });

  it('serves metrics, as the API does, that are documented and that promtool has nothing to say against', async function () {
    const promtool = requirePromtool(this);
    const operator = await start();
    await operator.leading();
    for (const url of [api.metricsUrl, operator.metricsUrl]) {
      const metrics = await (await fetch(url)).text();
      expect(await promtool.findingsOn(metrics)).to.equal('');
      await expectDocumented(metrics);
    }
  });

  it('refuses to start outside of a pod without saying where its lease is to be, or how to reach Kubernetes', async () => {
    const flags = ['operator', '--internal-url', 'http://127.0.0.1:1', '--public-url', 'http://127.0.0.1:2'];
    const ports = ['--metrics-port', '0', '--health-port', '0'];
    const lost = await runProgram([...flags, ...ports]);
    expect([lost.code, lost.stderr]).to.satisfy(
      ([code, stderr]: [number, string]) => code === 1 && /kubeconfig/.test(stderr),
    );
    const unplaced = await runProgram([...flags, ...ports, '--kubeconfig', cluster.adminKubeconfig]);
    expect(unplaced.code).to.equal(1);
    expect(unplaced.stderr).to.include('--leader-election-namespace');
  });
});
