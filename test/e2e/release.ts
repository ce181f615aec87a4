import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { CHART, installHelm, RELEASE, type ChartValues } from '../support/kubernetes/helm.ts';
import type { Stage } from './step.ts';

export { CHART, RELEASE };

export const REACTOR_NAMESPACE = 'tokenkeep-reactors';

/** What a production installation says: Secrets of its own, three users of the database, Vault by TLS. */
export function releaseValues(stage: Stage, image = stage.get('image')): ChartValues {
  const split = image.lastIndexOf(':');
  return {
    image: { registry: '', repository: image.slice(0, split), tag: image.slice(split + 1) },
    database: {
      existingSecret: { name: 'database-api' },
      maintenance: { existingSecret: { name: 'database-sweeper' } },
      migration: { existingSecret: { name: 'database-owner' } },
    },
    vault: { address: stage.get('vaultAddress'), ca: { existingSecret: { name: 'vault-authority' } } },
    reactors: { namespace: REACTOR_NAMESPACE, createNamespace: true },
  };
}

/** Runs Helm as the cluster's administrator, in the release's namespace; fails where it does. */
export async function helm(stage: Stage, args: readonly string[], values?: ChartValues): Promise<string> {
  const { machine, adminKubeconfig } = stage.get('node');
  const given: string[] = [];
  if (values !== undefined) {
    const file = join(stage.folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    given.push('--values', file);
  }
  const env = { KUBECONFIG: adminKubeconfig, HOME: stage.folder };
  const command = [...args, ...given, '--namespace', RELEASE.namespace];
  const { code, stdout, stderr } = await machine.run(await installHelm(), command, { env });
  if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${`${stdout}\n${stderr}`.trim()}`);
  return stdout;
}
