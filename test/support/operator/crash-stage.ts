import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createKubernetesClient, type KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { loadKubeConfig } from '../../../src/platform/kubernetes/kube-config.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { writeKubeconfig } from '../kubernetes/credentials.ts';
import { LEASE_NAMESPACE } from './operator-lease.ts';
import { startTestVault, type TestVault, type TestVaultOptions } from '../vault.ts';
import { startEffectsProxy, type EffectsProxy } from './effects-proxy.ts';

/** A vault, and what operators need to know to connect it with a cluster. */
export interface OperatorStage {
  /** As the administrator. */
  readonly client: KubernetesClient;
  readonly vault: TestVault;
  readonly proxy: EffectsProxy;
  /** Flags of operators that go through the proxy, without an election. */
  readonly throughProxy: readonly string[];
  /** Flags of operators that reach the cluster and the internal API directly, without an election. */
  readonly directly: readonly string[];
  close(): Promise<void>;
}

/** Short, so that a test need not wait for long until a leader that is gone is followed. */
const SHORT_LEASE = ['--lease-duration', '4s', '--renew-deadline', '3s', '--retry-period', '1s'];

/** With exactly the roles of the chart. */
const OPERATOR_ACCOUNT = 'tokenkeep-system/tokenkeep-operator';

/** The same operators, of which one leads. */
export function electing(flags: readonly string[]): string[] {
  const others = flags.slice(0, flags.indexOf('--leader-election'));
  return [...others, '--leader-election-namespace', LEASE_NAMESPACE, ...SHORT_LEASE];
}

export async function startOperatorStage(
  cluster: KubernetesCluster,
  vaultOptions: TestVaultOptions = {},
): Promise<OperatorStage> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-stage-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o700);
  const client = createKubernetesClient({ kubeConfig: loadKubeConfig({ kubeconfig: cluster.adminKubeconfig }) });
  undo.defer(() => client.close());
  const vault = await startTestVault(vaultOptions);
  undo.defer(() => vault.stop());
  const certificates = dirname(cluster.caFile);
  const proxy = await startEffectsProxy({
    kubernetes: {
      server: cluster.server,
      certFile: join(certificates, 'apiserver.crt'),
      keyFile: join(certificates, 'apiserver.key'),
    },
    internalApi: vault.internalUrl,
  });
  undo.defer(() => proxy.close());

  const token = await cluster.tokenFor(OPERATOR_ACCOUNT);
  const tokenFile = join(folder, 'internal-token');
  await writeFile(tokenFile, vault.internalToken, { mode: 0o600 });
  const kubeconfig = join(folder, 'through-proxy.kubeconfig');
  await writeKubeconfig(kubeconfig, {
    ...{ server: proxy.kubernetesUrl, caFile: cluster.caFile, token },
  });
  const flagsFor = (config: string, internalUrl: string): string[] => [
    ...['--kubeconfig', config, '--internal-url', internalUrl, '--internal-token-file', tokenFile],
    ...['--public-url', vault.baseUrl, '--metrics-port', '0', '--health-port', '0'],
    ...['--leader-election', 'off'],
  ];
  const all = undo.move();
  return {
    ...{ client, vault, proxy },
    throughProxy: flagsFor(kubeconfig, proxy.internalUrl),
    directly: flagsFor(await cluster.kubeconfigFor(OPERATOR_ACCOUNT), vault.internalUrl),
    close: () => all.disposeAsync(),
  };
}
