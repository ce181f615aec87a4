import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { KubernetesObject } from '../../../../src/operator/kubernetes/objects.ts';
import { createReflector } from '../../../../src/operator/kubernetes/reflector.ts';
import type { Reflector } from '../../../../src/operator/kubernetes/reflector.ts';
import type { RestartReason } from '../../../../src/operator/kubernetes/restart-reasons.ts';
import { systemTimers } from '../../../../src/operator/timers.ts';
import { createKubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { loadKubeConfig } from '../../../../src/platform/kubernetes/kube-config.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { requireOwnKubernetes } from '../../../support/kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { rejection } from '../../../support/rejection.ts';

const OBJECTS = 1_200;
/** Longer than the API server's interval between bookmarks. */
const WATCH_SECONDS = 75;
const ATTEMPTS = 3;
const DEADLINE = { deadlineMs: 120_000 };

describe('a reflector of a real API server', function () {
  this.timeout(300_000);

  let cluster: KubernetesCluster;
  let namespace: string;
  let client: KubernetesClient;
  let held: Map<string, string>;
  let restarts: RestartReason[];
  let reflector: Reflector<KubernetesObject>;
  const configMaps = () => ({ group: '', version: 'v1', plural: 'configmaps', namespace });

  before(async function () {
    cluster = await requireOwnKubernetes(this);
    namespace = await cluster.namespace();
  });

  after(() => cluster?.stop());

  beforeEach(() => {
    held = new Map();
    restarts = [];
    use(cluster.adminKubeconfig);
  });

  afterEach(async () => {
    await reflector.stop();
    client.close();
  });

  function use(kubeconfig: string): void {
    client = createKubernetesClient({ kubeConfig: loadKubeConfig({ kubeconfig }) });
    reflector = createReflector({
      client,
      at: configMaps(),
      selection: { labelSelector: 'reflected=yes', metadataOnly: true },
      clock: systemTimers,
      logger: silentLogger,
      onRestart: (reason) => restarts.push(reason),
      transform: ({ metadata }: KubernetesObject) => metadata,
      listener: {
        applied: ({ name, resourceVersion = '' }) => held.set(name, resourceVersion),
        removed: ({ name }) => held.delete(name),
      },
    });
  }

  function configMap(name: string, data: object = {}): object {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { reflected: 'yes' } }, data };
  }

  const holds = (...names: string[]) => eventually(() => expect([...held.keys()]).to.include.members(names), DEADLINE);
  const holdsNot = (name: string) => eventually(() => expect(held.has(name)).to.equal(false), DEADLINE);

  it('tells of all objects of all pages, of changes, and of what leaves its selection', async () => {
    const items = Array.from({ length: OBJECTS }, (_, index) => configMap(`many-${index}`));
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await cluster.demand(['create', '-n', namespace, '-f', '-'], { input: list });
    await reflector.start();
    expect(held.size).to.equal(OBJECTS);

    await client.create(configMaps(), configMap('later'));
    await holds('later');
    const before = held.get('later');
    await client.mergePatch({ ...configMaps(), name: 'later' }, { data: { changed: 'yes' } });
    await eventually(() => expect(held.get('later')).not.to.equal(before), DEADLINE);
    await client.mergePatch({ ...configMaps(), name: 'later' }, { metadata: { labels: { reflected: 'no' } } });
    await holdsNot('later');
    expect(restarts).to.be.empty;
  });

  it('is told by a bookmark how far the watch has come', async function () {
    this.timeout(ATTEMPTS * 2 * WATCH_SECONDS * 1000);
    const { resourceVersion } = await client.listPage(configMaps(), { limit: 1 });
    // It is not selected: only a bookmark can tell of its version.
    const { metadata } = await client.create<KubernetesObject>(configMaps(), { metadata: { name: 'unrelated' } });
    const told = [];
    const signal = new AbortController().signal;
    const query = { resourceVersion, timeoutSeconds: WATCH_SECONDS, labelSelector: 'reflected=never' };
    // The API server sends one about every minute, where it gets to it.
    for (let attempt = 0; attempt < ATTEMPTS && told.length === 0; attempt += 1) {
      for await (const { type, object } of client.watch<KubernetesObject>(configMaps(), query, signal)) {
        expect(type).to.equal('BOOKMARK');
        told.push(Number(object.metadata.resourceVersion));
        break;
      }
    }
    expect(told.at(-1)).to.be.at.least(Number(metadata.resourceVersion));
  });

  it('goes on over a restart of the API server, and misses nothing', async () => {
    await client.create(configMaps(), configMap('goes'));
    await reflector.start();
    await cluster.killApiServer();
    await eventually(() => expect(restarts).to.include('disconnected'), DEADLINE);
    await cluster.startApiServer();
    const fromLongAgo = { resourceVersion: '1', timeoutSeconds: 5 };
    const watching = client.watch(configMaps(), fromLongAgo, new AbortController().signal);
    expect(await rejection(watching.next())).to.include({ status: 410, reason: 'Expired' });
    await cluster.demand(['delete', 'configmap', 'goes', '-n', namespace]);
    await cluster.demand(['create', '-n', namespace, '-f', '-'], { input: JSON.stringify(configMap('comes')) });
    await holds('comes');
    await holdsNot('goes');
  });

  it('goes on once an expired token is replaced', async () => {
    const account = `${namespace}/reader`;
    const token = await cluster.tokenFor(account);
    const reads = ['create', 'rolebinding', 'reads', '--clusterrole=view', `--serviceaccount=${namespace}:reader`];
    await cluster.demand([...reads, '-n', namespace]);
    const tokenFile = `${cluster.adminKubeconfig}.token`;
    await writeFile(tokenFile, 'a.token.of.old');
    const kubeconfig = `${cluster.adminKubeconfig}.reader`;
    const { server, caFile } = cluster;
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
    const content = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority': caFile } }],
      users: [{ name: 'reader', user }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'reader' } }],
    };
    await writeFile(kubeconfig, JSON.stringify(content));
    client.close();
    use(kubeconfig);
    const starting = reflector.start();
    await eventually(() => expect(restarts).to.include('unauthorized'), DEADLINE);
    await writeFile(tokenFile, token);
    await starting;
    expect(held.size).to.be.at.least(1);
  });
});
