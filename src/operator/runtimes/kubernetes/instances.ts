import { isIPv6 } from 'node:net';
import type { ReactorInstance } from '../../../domain/declarations.ts';
import { REVISION_LABEL } from '../../workloads/names.ts';
import { SERVICE_PORT } from '../../workloads/pod.ts';
import type { ObservedPod } from './objects.ts';

/** The pods that answer, and go on to: also those of a revision that is being replaced. */
export function instancesOf(pods: readonly ObservedPod[], serverName: string): ReactorInstance[] {
  return pods.flatMap(({ metadata, status }) => {
    const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
    if (!isReady || metadata.deletionTimestamp !== undefined || !status?.podIP) return [];
    const host = isIPv6(status.podIP) ? `[${status.podIP}]` : status.podIP;
    return [
      {
        address: `https://${host}:${SERVICE_PORT}`,
        // Certificates say who calls.
        credential: '',
        revision: metadata.labels?.[REVISION_LABEL] ?? '',
        serverName,
      },
    ];
  });
}
