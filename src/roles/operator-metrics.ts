import { Counter, Gauge, type Registry } from 'prom-client';
import type { EventResult } from '../operator/kubernetes/event-recorder.ts';
import type { RequestObservation } from '../platform/kubernetes/client.ts';

/** What an operator tells of its dealings with Kubernetes, under client-go's names where there are some. */
export interface OperatorMetrics {
  onRequest(observation: RequestObservation): void;
  onLeading(isLeading: boolean): void;
  onWatchRestart(plural: string, reason: string): void;
  onListenerError(plural: string): void;
  onEvent(result: EventResult): void;
}

export function createOperatorMetrics(registry: Registry, leaseName: string): OperatorMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labelNames: ['code', 'method', 'host'] as const,
    registers,
  });
  const leading = new Gauge({
    name: 'leader_election_master_status',
    help: 'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.',
    labelNames: ['name'] as const,
    registers,
  });
  const restarts = new Counter({
    name: 'tokenkeep_watch_restarts_total',
    help: 'Watches of Kubernetes that had to be begun again, by collection and reason.',
    labelNames: ['resource', 'reason'] as const,
    registers,
  });
  const listenerErrors = new Counter({
    name: 'tokenkeep_watch_handler_errors_total',
    help: 'Events of watches that the operator itself failed to take.',
    labelNames: ['resource'] as const,
    registers,
  });
  const events = new Counter({
    name: 'tokenkeep_events_total',
    help: 'Events that were to be recorded in Kubernetes, by what became of them.',
    labelNames: ['result'] as const,
    registers,
  });
  leading.set({ name: leaseName }, 0);
  return {
    onRequest: (observation) => requests.inc({ ...observation }),
    onLeading: (isLeading) => leading.set({ name: leaseName }, isLeading ? 1 : 0),
    onWatchRestart: (resource, reason) => restarts.inc({ resource, reason }),
    onListenerError: (resource) => listenerErrors.inc({ resource }),
    onEvent: (result) => events.inc({ result }),
  };
}
