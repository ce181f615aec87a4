import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import type { EventRecorder } from '../../kubernetes/event-recorder.ts';
import { CHECKER_NAME, CLIENT_SECRET } from '../../workloads/names.ts';
import type { ApiPods } from '../../workloads/network-policy.ts';
import { AuthorityError } from './authority-secret.ts';
import { refusalOf } from './failures.ts';
import type { Failure } from './failures.ts';
import { SHARED } from './observed.ts';
import type { Observed } from './observed.ts';
import { ScalerMissingError } from './scaler.ts';

const WHAT: Readonly<Record<string, string>> = {
  [SHARED]: 'the certificates that the API calls instances with',
  [CHECKER_NAME]: 'what checks code',
};

/**
 * What keeps a workload from being brought, as the cluster answered; nothing where it could not be asked, which passes.
 * Of a Secret, nothing is quoted.
 */
export function refusalIn(error: unknown, workload: string): Failure | undefined {
  if (error instanceof ScalerMissingError) return { failureReason: 'ScalerMissing', failure: error.message };
  if (error instanceof AuthorityError) return { failureReason: 'AuthorityUnusable', failure: error.message };
  if (!(error instanceof KubernetesError) || error.status === undefined) return undefined;
  if (error.status === 409 || error.status === 429 || error.status >= 500) return undefined;
  const detail = error.message.includes('/secrets') ? undefined : error.detail;
  return refusalOf(detail ?? error.message, WHAT[workload] ?? 'what a reactor is made of');
}

export interface RefusalEvents {
  recorder: Pick<EventRecorder, 'record'>;
  observed: Pick<Observed, 'deployment'>;
  namespace: string;
  api: Pick<ApiPods, 'namespace'>;
}

/** Tells of a refusal where the object is, or would be: not every workload has a resource with a status. */
export function recordRefusal(
  { recorder, observed, namespace, api }: RefusalEvents,
  workload: string,
  { failureReason, failure }: Failure,
): void {
  const regarding =
    workload === SHARED
      ? { apiVersion: 'v1', kind: 'Secret', namespace: api.namespace, name: CLIENT_SECRET, uid: '' }
      : {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: workload },
          // Without one where there is none yet.
          uid: observed.deployment(workload)?.metadata.uid ?? '',
        };
  recorder.record(regarding, { type: 'Warning', reason: failureReason, message: failure });
}
