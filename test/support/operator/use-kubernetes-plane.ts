import { requireKubernetes } from '../kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { createKubernetesPlane } from './kubernetes-plane.ts';
import type { KubernetesPlane } from './kubernetes-plane.ts';

/** To be called in a suite: each of its tests is given a plane of its own, over the cluster of the run. */
export function useKubernetesPlane(give: (plane: KubernetesPlane) => void): void {
  let cluster: KubernetesCluster;
  let plane: KubernetesPlane;

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
  });
  beforeEach(async () => {
    plane = await createKubernetesPlane(cluster);
    give(plane);
  });
  afterEach(() => plane.close());
}
