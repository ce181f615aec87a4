import { join } from 'node:path';
import { goModuleFolder } from '../go-module.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';

const PINS = new URL('../../../config/definitions/', import.meta.url);
const MODULE = 'github.com/kedacore/keda/v2';
const DEFINITION = 'config/crd/bases/keda.sh_scaledobjects.yaml';

/** As much of KEDA as the operator meets: its kind, as KEDA defines it. Stays for the whole cluster. */
export async function installKeda(cluster: KubernetesCluster): Promise<void> {
  const file = join(await goModuleFolder(PINS, MODULE), DEFINITION);
  await cluster.demand(['apply', '--server-side', '-f', file]);
  await cluster.demand(['wait', '--for=condition=Established', '--timeout=60s', '-f', file]);
}
