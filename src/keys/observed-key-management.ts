import type { Metrics } from '../platform/metrics.ts';
import type { Tracing } from '../platform/tracing.ts';
import type { KeyManagement } from './key-management.ts';

/** What of key management requests wait for, or the vault's own work calls often. */
const OPERATIONS = [
  'createDataKey',
  'unwrapDataKey',
  'rewrapDataKey',
  'versions',
  'rotate',
  'authenticate',
  'ping',
] as const satisfies readonly (keyof KeyManagement)[];

type Operation = (typeof OPERATIONS)[number];
type Call = (...args: unknown[]) => Promise<unknown>;

/** The same key management; how long its operations take, and which fail, is in the metrics and in traces. */
export function observeKeyManagement(
  management: KeyManagement,
  { metrics, tracing }: { readonly metrics: Metrics; readonly tracing: Tracing },
): KeyManagement {
  const durations = metrics.histogram({
    name: 'key_management_request_duration_seconds',
    help: 'Time that key management took for an operation, by operation and result: ok or failed.',
    labels: ['operation', 'result'],
  });

  function observed(operation: Operation): Call {
    const part = { name: `key-management ${operation}`, isCall: management.name === 'vault' };
    return (...args) =>
      tracing.part(part, async () => {
        const startedAt = performance.now();
        let result = 'failed';
        try {
          const answer = await (management[operation] as Call)(...args);
          result = 'ok';
          return answer;
        } finally {
          durations.observe({ operation, result }, (performance.now() - startedAt) / 1_000);
        }
      });
  }

  const calls = Object.fromEntries(OPERATIONS.map((operation) => [operation, observed(operation)]));
  return { ...management, ...(calls as Pick<KeyManagement, Operation>) };
}
