import { CODE_REFUSED_EXIT } from '../../../domain/reactor-supervision.ts';
import type { FailureReason } from '../types.ts';
import type { ContainerStatus, ObservedDeployment, ObservedPod } from './objects.ts';

export interface Failure {
  failureReason: FailureReason;
  failure: string;
}

/** Waiting reasons of the kubelet that are about the image. */
const IMAGE_REASONS = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
/** Waiting reasons on the way to a container that starts. */
const STARTING = new Set(['ContainerCreating', 'PodInitializing', 'CrashLoopBackOff']);
const LONGEST_QUOTE = 300;

/**
 * What keeps the pods of one revision from answering, and what to do about it. Quotes Kubernetes, and of the program
 * only what it wrote as its last word: never its output.
 */
export function failureOf(
  deployment: ObservedDeployment | undefined,
  pods: readonly ObservedPod[],
): Failure | undefined {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const containers = alive.flatMap(({ status }) => status?.containerStatuses ?? []);
  return (
    firstOf(containers, imageFailure) ??
    firstOf(containers, crashFailure) ??
    firstOf(containers, startFailure) ??
    firstOf(alive, schedulingFailure) ??
    (deployment === undefined ? undefined : deploymentFailure(deployment))
  );
}

function firstOf<T>(all: readonly T[], find: (each: T) => Failure | undefined): Failure | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function imageFailure({ state }: ContainerStatus): Failure | undefined {
  const { reason, message } = state?.waiting ?? {};
  if (reason === undefined || !IMAGE_REASONS.has(reason)) return undefined;
  return {
    failureReason: 'ImagePullFailed',
    failure:
      'The cluster cannot get the image of instances. Check --reactor-image of the operator, and ' +
      `--reactor-image-pull-secrets where its registry asks who pulls (${quote(reason, message)})`,
  };
}

function crashFailure({ state, lastState }: ContainerStatus): Failure | undefined {
  const isBackingOff = state?.waiting?.reason === 'CrashLoopBackOff';
  const ended = state?.terminated ?? (isBackingOff ? lastState?.terminated : undefined);
  if (ended === undefined || (ended.exitCode === 0 && !isBackingOff)) return undefined;
  const { exitCode, reason, message } = ended;
  if (exitCode === CODE_REFUSED_EXIT) {
    const verdict = message === undefined ? '' : `: ${quote(message)}`;
    return { failureReason: 'CodeRefused', failure: `The code cannot be loaded${verdict}. Change the code` };
  }
  if (reason === 'OOMKilled') {
    return {
      failureReason: 'CrashLooping',
      failure: 'An instance needs more memory than it may have, and is ended. Raise spec.resources.limits.memory',
    };
  }
  const last = message === undefined ? '' : `, saying: ${quote(message)}`;
  return {
    failureReason: 'CrashLooping',
    failure: `Instances end with exit code ${exitCode} soon after their start${last}. Look at the logs of their pods`,
  };
}

function startFailure({ state }: ContainerStatus): Failure | undefined {
  const { reason, message } = state?.waiting ?? {};
  if (reason === undefined || STARTING.has(reason)) return undefined;
  return {
    failureReason: 'NotReady',
    failure: `The container of an instance cannot be made (${quote(reason, message)})`,
  };
}

function schedulingFailure({ status }: ObservedPod): Failure | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (condition?.status !== 'False' || condition.reason !== 'Unschedulable') return undefined;
  const advice = 'Add nodes, or lower spec.resources.limits.memory';
  return {
    failureReason: 'Unschedulable',
    failure: `No node has room for an instance. ${advice} (${quote(condition.message)})`,
  };
}

function deploymentFailure({ status }: ObservedDeployment): Failure | undefined {
  const holding = (type: string, value: string) =>
    status?.conditions?.find((each) => each.type === type && each.status === value);
  const refused = holding('ReplicaFailure', 'True');
  if (refused !== undefined) return refusalOf(refused.message ?? '', 'pods of instances');
  if (holding('Progressing', 'False')?.reason !== 'ProgressDeadlineExceeded') return undefined;
  return {
    failureReason: 'NotReady',
    failure: 'Instances run and do not become ready. Look at the events and the logs of their pods',
  };
}

/** What the API server said when it refused to make something. */
export function refusalOf(message: string, what: string): Failure {
  if (/exceeded quota|must specify (limits|requests)/.test(message)) {
    const advice = 'Raise the ResourceQuota of the namespace of reactors, or lower spec.scaling.maxReplicas';
    return {
      failureReason: 'QuotaExceeded',
      failure: `A quota leaves no room for ${what}. ${advice} (${quote(message)})`,
    };
  }
  if (/violates PodSecurity|admission webhook|denied the request|LimitRange|is forbidden/.test(message)) {
    const advice = 'See what admits pods to the namespace of reactors';
    return {
      failureReason: 'PodRefused',
      failure: `The cluster does not let ${what} in. ${advice} (${quote(message)})`,
    };
  }
  return { failureReason: 'ClusterRefused', failure: `The cluster refuses ${what} (${quote(message)})` };
}

/** One line, cut to a length that a status can bear. */
function quote(...parts: readonly (string | undefined)[]): string {
  const text = parts
    .filter((part) => part !== undefined && part !== '')
    .join(': ')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}
