import { requireKubernetes } from '../kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { createReactorCluster } from './reactor-cluster.ts';
import type { ReactorCluster } from './reactor-cluster.ts';

/** To be called in a suite: each of its tests is given a namespace for reactors of its own, in the cluster of the run. */
export function useReactorCluster(give: (bench: ReactorCluster) => void): void {
  let cluster: KubernetesCluster;
  let bench: ReactorCluster | undefined;

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
  });
  beforeEach(async () => {
    bench = await createReactorCluster(cluster);
    give(bench);
  });
  afterEach(async () => {
    await bench?.close();
    bench = undefined;
  });
}
