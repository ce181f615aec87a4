import type { OperatorConfig } from '../config/operator.ts';
import type { EventRecorder } from '../operator/kubernetes/event-recorder.ts';
import { createKubernetesRuntime } from '../operator/runtimes/kubernetes.ts';
import { createNoRuntime } from '../operator/runtimes/none.ts';
import type { ReactorRuntime } from '../operator/runtimes/types.ts';
import { systemTimers } from '../operator/timers.ts';
import type { KubernetesClient } from '../platform/kubernetes/client.ts';
import type { Logger } from '../platform/logger.ts';
import { apiPodNamespace, reactorNamespace } from './operator-identity.ts';
import type { OperatorMetrics } from './operator-metrics.ts';

export interface RuntimeParts {
  readonly client: KubernetesClient;
  readonly told: OperatorMetrics;
  readonly logger: Logger;
}

/** Once this operator leads. */
export type StartRuntime = (recorder: Pick<EventRecorder, 'record'>) => ReactorRuntime;

/** What will run reactors in a cluster, which is nothing without an image. Rejects where it cannot tell where. */
export async function planReactorRuntime(config: OperatorConfig, parts: RuntimeParts): Promise<StartRuntime> {
  const { client, told, logger } = parts;
  const { reactorImage: image, reactorImagePullSecrets: imagePullSecrets, reactorHost: host } = config;
  if (image === undefined) return createNoRuntime;
  const places = {
    namespace: await reactorNamespace(config.reactorNamespace),
    api: {
      namespace: await apiPodNamespace(config.apiPodNamespace),
      labels: config.apiPodLabels,
      port: config.apiPodPort,
      metricsNamespaces: config.reactorMetricsNamespaces,
    },
  };
  return (recorder) => {
    const runtime = createKubernetesRuntime({
      ...{ client, logger, recorder, clock: systemTimers },
      ...places,
      pods: { image, imagePullSecrets, host },
      metricsOrigin: config.apiMetricsUrl,
      onRestart: (plural, reason) => told.onWatchRestart(plural, reason),
      onListenerError: (plural) => told.onListenerError(plural),
    });
    runtime.start();
    return runtime;
  };
}
