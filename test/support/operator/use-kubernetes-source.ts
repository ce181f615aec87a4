import { createKubernetesSource } from '../../../src/operator/sources/kubernetes.ts';
import type { ObjectRef, ResourceSource } from '../../../src/operator/sources/types.ts';
import { systemTimers } from '../../../src/operator/timers.ts';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { requireKubernetes } from '../kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { createScene } from './crash-scene.ts';
import type { Scene } from './crash-scene.ts';
import { clientOf } from './kubernetes-plane.ts';
import { createNotes } from './source-notes.ts';

/** What one test of a source works with, in a namespace of its own. */
export interface SourceBench {
  readonly cluster: KubernetesCluster;
  /** An administrator of the cluster. */
  readonly admin: KubernetesClient;
  /** Of the operator, with the chart's own roles. */
  readonly client: KubernetesClient;
  readonly scene: Scene;
  readonly source: ResourceSource;
  readonly notes: ReturnType<typeof createNotes>;
  /** The Application `payments`, which the test declares. */
  readonly ref: ObjectRef<'Application'>;
}

/** To be called in a suite: each of its tests is given a source over the cluster of the run, stopped when it ends. */
export function useKubernetesSource(give: (bench: SourceBench) => void): void {
  let cluster: KubernetesCluster;
  let admin: KubernetesClient;
  let client: KubernetesClient;
  let bench: SourceBench;

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
    admin = clientOf(cluster.adminKubeconfig);
    client = clientOf(await cluster.kubeconfigFor('tokenkeep-system/tokenkeep-operator'));
  });
  after(() => {
    admin?.close();
    client?.close();
  });
  beforeEach(async () => {
    const scene = await createScene(admin);
    const source = createKubernetesSource({
      ...{ client, clock: systemTimers, logger: silentLogger },
      recorder: { record: () => undefined },
      watchNamespaces: [scene.namespace],
    });
    const ref = { kind: 'Application', namespace: scene.namespace, name: 'payments' } as const;
    bench = { cluster, admin, client, scene, source, notes: createNotes(), ref };
    give(bench);
  });
  afterEach(async () => {
    const { source, scene } = bench;
    await source.stop();
    const left = await scene.read('Application', 'payments');
    if (left !== undefined) await scene.patch('Application', 'payments', { metadata: { finalizers: null } });
    await scene.remove('Namespace', scene.namespace);
  });
}
