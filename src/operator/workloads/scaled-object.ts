import type { ReactorWorkload } from '../../domain/declarations.ts';
import { SCALING_RULES } from '../scaling.ts';
import { labelsOf, workloadName } from './names.ts';

export const SCALED_OBJECTS = { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledobjects' } as const;

/** How often KEDA asks while nothing runs: a call is held for 20 s at most. */
const POLLING_SECONDS = 5;
const FAILURES_BEFORE_FALLBACK = 3;

export interface ScaledObject {
  apiVersion: string;
  kind: 'ScaledObject';
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec: object;
}

/**
 * Has KEDA, from 2.20 on, scale the Deployment of a reactor by the demand that each replica of the API tells. Fields as
 * keda.sh/docs/2.20 has them: `reference/scaledobject-spec` and `scalers/metrics-api`.
 *
 * @param metricsOrigin Of the metrics of the API, by its Service and the port of its pods:
 *   `http://<service>.<namespace>.svc:<pod port>`. KEDA asks each pod of the Service.
 */
export function buildScaledObject(workload: ReactorWorkload, metricsOrigin: string): ScaledObject {
  const { tenantId, reactorId, scaling } = workload;
  const name = workloadName(workload);
  const { minReplicas, maxReplicas, concurrency, idleSeconds } = scaling;
  return {
    apiVersion: `${SCALED_OBJECTS.group}/${SCALED_OBJECTS.version}`,
    kind: 'ScaledObject',
    metadata: { name, labels: labelsOf(workload) },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      pollingInterval: POLLING_SECONDS,
      // Until the last instance goes; others go as the HorizontalPodAutoscaler that KEDA makes says.
      cooldownPeriod: idleSeconds,
      minReplicaCount: minReplicas,
      maxReplicaCount: maxReplicas,
      // Without an answer about demand, all stays as it is.
      fallback: {
        failureThreshold: FAILURES_BEFORE_FALLBACK,
        replicas: Math.max(minReplicas, 1),
        behavior: 'currentReplicas',
      },
      triggers: [
        {
          type: 'metrics-api',
          metricType: 'AverageValue',
          metadata: {
            url: `${metricsOrigin}/reactors/${tenantId}/${reactorId}/demand`,
            format: 'json',
            valueLocation: 'average',
            targetValue: String(Math.round(concurrency * SCALING_RULES.targetUtilization * 100) / 100),
            activationTargetValue: '0',
            aggregateFromKubeServiceEndpoints: 'true',
            aggregationType: 'sum',
          },
        },
      ],
    },
  };
}
