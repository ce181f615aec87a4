import type { Condition, ConditionType } from '../domain/resource-status.ts';
import type { FailureReason } from './runtimes/types.ts';

/** Why a resource is ready. */
type ReadyReason =
  | 'Reconciled'
  /** Nothing of it runs, since nobody calls it; the next call starts an instance. */
  | 'ScaledToZero';

/** What a resource waits for; it goes on by itself. */
export type WaitingReason =
  | Exclude<FailureReason, 'CodeRefused' | 'Degraded'>
  | 'ApiUnavailable'
  | 'ApplicationNotFound'
  | 'ApplicationNotReady'
  | 'CheckerFailing'
  | 'ConfigMapEntryNotFound'
  | 'Deleting'
  | 'InstancesFailing'
  | 'InstancesStarting'
  | 'NamespaceTerminating'
  | 'NoRuntime'
  | 'SecretEntryNotFound'
  | 'SourceUnavailable'
  | 'TenantNotReady';

/** What only a change of a resource can mend, or of what calls it: nothing that the operator does. */
export type StalledReason =
  | 'ApiRefused'
  | 'CodeRefused'
  | 'ConfigurationTooLarge'
  /** As kstatus and Argo CD take a container that crashes again and again, though it may cease to. */
  | 'Degraded'
  | 'EntryNotText'
  | 'Expired'
  | 'IdConflict'
  | 'IdNotValid'
  | 'KeyNotUsable'
  | 'NamespaceConflict'
  | 'PermissionNotAllowed'
  | 'PriorityConflict'
  | 'SecretImmutable'
  | 'SecretNotOurs';

/** The verdict of one reconciliation. */
export type Outcome =
  | { state: 'ready'; reason: ReadyReason; message: string }
  | { state: 'waiting'; reason: WaitingReason; message: string }
  | { state: 'stalled'; reason: StalledReason; message: string };

export const ready = (message: string, reason: ReadyReason = 'Reconciled'): Outcome => ({
  state: 'ready',
  reason,
  message,
});
export const waiting = (reason: WaitingReason, message: string): Outcome => ({ state: 'waiting', reason, message });
export const stalled = (reason: StalledReason, message: string): Outcome => ({ state: 'stalled', reason, message });

/** A condition without the time: that follows from the conditions before it. */
type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * The conditions of kstatus: `Ready` always; `Reconciling` or `Stalled` only while they hold, since tools read their
 * presence. A terminal fault without `Stalled` would keep Flux and `helm --wait` waiting.
 */
export function conditionsOf(
  outcome: Outcome,
  generation: number,
  before: readonly Condition[],
  nowMs: number,
): Condition[] {
  const { state, reason, message } = outcome;
  const current: NewCondition[] = [{ type: 'Ready', status: state === 'ready' ? 'True' : 'False', reason, message }];
  if (state === 'waiting') current.push({ type: 'Reconciling', status: 'True', reason, message });
  if (state === 'stalled') current.push({ type: 'Stalled', status: 'True', reason, message });
  return current.map((condition) => timed(condition, generation, before, nowMs));
}

/** The conditions of a resource that is looked at for the first time. Without any, kstatus would take it for ready. */
export function firstConditions(generation: number, nowMs: number): Condition[] {
  const found = { reason: 'Reconciling', message: 'Looked at for the first time' };
  const unknown: NewCondition = { type: 'Ready', status: 'Unknown', ...found };
  return [unknown, { ...unknown, type: 'Reconciling' as const, status: 'True' as const }].map((condition) =>
    timed(condition, generation, [], nowMs),
  );
}

/** The conditions of a paused resource: what was last found, and that it may be out of date. */
export function pausedConditions(generation: number, before: readonly Condition[], nowMs: number): Condition[] {
  const message = 'The annotation tokenkeep.dev/pause stops reconciling';
  const paused = timed({ type: 'Paused', status: 'True', reason: 'Paused', message }, generation, before, nowMs);
  const kept = before.filter(({ type }) => type !== 'Paused');
  if (kept.length > 0) return [...kept, paused];
  return [timed({ type: 'Ready', status: 'Unknown', reason: 'Paused', message }, generation, before, nowMs), paused];
}

export function findCondition(conditions: readonly Condition[], type: ConditionType): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function timed(condition: NewCondition, generation: number, before: readonly Condition[], nowMs: number): Condition {
  const previous = findCondition(before, condition.type);
  const lastTransitionTime =
    previous?.status === condition.status ? previous.lastTransitionTime : new Date(nowMs).toISOString();
  return { ...condition, observedGeneration: generation, lastTransitionTime };
}
