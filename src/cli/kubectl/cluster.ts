import type { KubeConfig } from '@kubernetes/client-node';
import { createKubernetesClient } from '../../platform/kubernetes/client.ts';
import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { createRequests } from '../../platform/kubernetes/requests.ts';
import type { Requests } from '../../platform/kubernetes/requests.ts';
import { loadUserKubeConfig } from '../../platform/kubernetes/user-kube-config.ts';
import { patientClient, patientRequests } from './patience.ts';
import { PluginError } from './plugin-error.ts';
import type { PluginOptions } from './options.ts';

/** The cluster that a command is about, as the person who gave it. */
export interface Cluster {
  readonly kubeConfig: KubeConfig;
  readonly client: KubernetesClient;
  /** For answers that are no objects. */
  readonly requests: Requests;
  readonly server: string;
  /** That of `--namespace`, else of the context. */
  readonly namespace: string;
  close(): void;
}

const TIMEOUT_MS = 20_000;

export function openCluster({ kubeconfigs, context, namespace }: PluginOptions): Cluster {
  const kubeConfig = load({ ...kubeconfigs, ...(context === undefined ? {} : { context }) });
  const client = patientClient(createKubernetesClient({ kubeConfig, timeoutMs: TIMEOUT_MS }));
  const requests = patientRequests(createRequests({ kubeConfig, timeoutMs: TIMEOUT_MS }));
  const ofContext = kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace;
  return {
    ...{ kubeConfig, client, requests },
    server: kubeConfig.getCurrentCluster()?.server ?? '',
    namespace: namespace ?? ofContext ?? 'default',
    close() {
      client.close();
      requests.close();
    },
  };
}

function load(options: Parameters<typeof loadUserKubeConfig>[0]): KubeConfig {
  try {
    return loadUserKubeConfig(options);
  } catch (error) {
    throw new PluginError(error instanceof Error ? error.message : String(error));
  }
}
