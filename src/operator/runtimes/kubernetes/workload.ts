import type { ReactorWorkload } from '../../../domain/declarations.ts';
import { reactorServerName } from '../../../domain/reactor-certificates.ts';
import { buildDeployment } from '../../workloads/deployment.ts';
import { buildDisruptionBudget } from '../../workloads/disruption-budget.ts';
import { labelsOf, REVISION_LABEL, tlsSecretName, workloadName, workloadSecretName } from '../../workloads/names.ts';
import { buildNetworkPolicy } from '../../workloads/network-policy.ts';
import type { Callers } from '../../workloads/network-policy.ts';
import type { PodSettings } from '../../workloads/pod.ts';
import { buildWorkloadSecret } from '../../workloads/secrets.ts';
import { buildService } from '../../workloads/service.ts';
import type { Observed } from './observed.ts';
import type { Trust } from './trust.ts';
import type { PartWriter } from './writer.ts';

/** What is wanted of one reactor. */
export interface Wanted {
  workload: ReactorWorkload;
  /** Undefined: others decide. */
  replicas: number | undefined;
}

export interface WorkloadParts {
  observed: Observed;
  writer: PartWriter;
  trust: Trust;
  pods: PodSettings;
  api: Callers;
}

/**
 * Brings all that a reactor is made of to what is wanted. Resolves with when to look again: in how many ms. The network
 * policy and what pods mount come before the pods.
 */
export async function bringWorkload({ workload, replicas }: Wanted, parts: WorkloadParts): Promise<number> {
  const { observed, writer, trust } = parts;
  const name = workloadName(workload);
  const { tenantId, reactorId, revision, scaling } = workload;
  await writer.ensure(buildNetworkPolicy(workload, parts.api));
  const subject = { name: reactorServerName(tenantId, reactorId), usage: 'server' } as const;
  const lookAgainMs = await trust.ensure({ name: tlsSecretName(name), labels: labelsOf(workload), subject });
  if (observed.part('Secret', workloadSecretName(name, revision)) === undefined) {
    await writer.ensure(buildWorkloadSecret(workload));
  }
  await writer.ensure(buildService(workload));
  const budget = buildDisruptionBudget(workload);
  if (budget !== undefined) await writer.ensure(budget);
  else await removeBudget(name, parts);
  await writer.ensureDeployment(buildDeployment(workload, parts.pods), replicas ?? scaling.minReplicas);
  if (replicas !== undefined) await writer.scale(name, replicas);
  await removeFormerRevisions(name, revision, parts);
  return lookAgainMs;
}

/**
 * Removes a reactor in the order that leaves no pod without its wall: the Deployment, and once its pods are gone, all
 * else. Resolves with whether nothing is left; to be called again where something of it has changed.
 */
export async function clearWorkload(name: string, { observed, writer }: WorkloadParts): Promise<boolean> {
  const deployment = observed.deployment(name);
  if (deployment !== undefined && deployment.metadata.deletionTimestamp === undefined) {
    await writer.remove('Deployment', deployment);
  }
  if (deployment !== undefined || observed.podsOf(name).length > 0) return false;
  const others = observed.otherParts(name);
  for (const { kind, object } of others) await writer.remove(kind, object);
  return others.length === 0;
}

async function removeBudget(name: string, { observed, writer }: WorkloadParts): Promise<void> {
  const budget = observed.part('PodDisruptionBudget', name);
  if (budget !== undefined) await writer.remove('PodDisruptionBudget', budget);
}

/** Once no pod runs another revision, and none is to come: a pod of it that restarts would need its Secret. */
async function removeFormerRevisions(name: string, revision: string, parts: WorkloadParts): Promise<void> {
  const { observed, writer } = parts;
  const { metadata, spec, status } = observed.deployment(name) ?? {};
  if (metadata === undefined || status?.observedGeneration === undefined) return;
  const hasSeen = metadata.generation !== undefined && status.observedGeneration >= metadata.generation;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const wanted = spec?.replicas ?? 0;
  const isDone = hasSeen && replicas === updatedReplicas && updatedReplicas === wanted && availableReplicas === wanted;
  const isOther = (labels: Readonly<Record<string, string>> = {}): boolean => {
    const other = labels[REVISION_LABEL];
    return other !== undefined && other !== revision;
  };
  if (!isDone || observed.podsOf(name).some((pod) => isOther(pod.metadata.labels))) return;
  for (const { kind, object } of observed.otherParts(name)) {
    if (kind === 'Secret' && isOther(object.metadata.labels)) await writer.remove(kind, object);
  }
}
