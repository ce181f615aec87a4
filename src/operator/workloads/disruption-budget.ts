import type { ReactorWorkload } from '../../domain/declarations.ts';
import { labelsOf, selectorOf, workloadName } from './names.ts';
import { partOf, withDigest } from './parts.ts';
import type { Part } from './parts.ts';

/**
 * Lets a node be emptied of one instance at a time. None for a reactor that may run in one instance: it would keep that
 * node from ever being emptied, or allow what it is to prevent.
 */
export function buildDisruptionBudget(workload: ReactorWorkload): Part | undefined {
  if (workload.scaling.minReplicas < 2) return undefined;
  return withDigest({
    ...partOf('PodDisruptionBudget', workloadName(workload), labelsOf(workload)),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(workload) } },
  });
}
