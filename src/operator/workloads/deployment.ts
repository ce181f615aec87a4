import type { ReactorWorkload } from '../../domain/declarations.ts';
import { REACTOR_LIMITS } from '../../domain/reactors.ts';
import {
  CHECKER_LABELS,
  CHECKER_NAME,
  CHECKER_SELECTOR,
  labelsOf,
  REVISION_LABEL,
  selectorOf,
  workloadName,
  workloadSecretName,
} from './names.ts';
import { partOf, withDigest } from './parts.ts';
import type { Part } from './parts.ts';
import { buildPodTemplate, CONTAINER_NAME, WORKLOAD_FOLDER } from './pod.ts';
import type { PodSettings, PodTemplate } from './pod.ts';

/** How long a new instance is there before one that it replaces goes: until the API has heard of it, in s. */
const MIN_READY_SECONDS = 2;
/** Checking loads code once, under the limit of loading. */
const CHECK_SECONDS = 10;
const CHECKER_BYTES = 256 * 1024 * 1024;

/**
 * Runs one revision of one reactor, and only that: a pod never has code of two. Holds no `replicas`, so that applying
 * it never scales.
 */
export function buildDeployment(workload: ReactorWorkload, settings: PodSettings): Part {
  const { revision, memoryBytes, timeoutSeconds } = workload;
  const name = workloadName(workload);
  const selector = selectorOf(workload);
  const labels = labelsOf(workload);
  const template = buildPodTemplate({
    ...settings,
    ...{ name, selector, memoryBytes },
    args: ['reactor', `--workload-file=${WORKLOAD_FOLDER}/workload.json`],
    // Another revision is another template: what replaces the pods when code or configuration change.
    labels: { ...labels, [REVISION_LABEL]: revision },
    // An instance with nothing left to run ends by itself, long before.
    drainSeconds: Math.max(timeoutSeconds, REACTOR_LIMITS.asynchronousTimeoutSeconds),
    mounts: { [WORKLOAD_FOLDER]: workloadSecretName(name, revision) },
  });
  return withDigest({ ...partOf('Deployment', name, labels), spec: rollingUpdate(selector, template) });
}

/** Runs what checks code before the API takes it: one instance, that runs no reactor. */
export function buildCheckerDeployment(settings: PodSettings): Part {
  const template = buildPodTemplate({
    ...settings,
    name: CHECKER_NAME,
    selector: CHECKER_SELECTOR,
    labels: CHECKER_LABELS,
    args: ['reactor', '--check'],
    memoryBytes: CHECKER_BYTES,
    drainSeconds: CHECK_SECONDS,
    mounts: {},
  });
  const part = partOf('Deployment', CHECKER_NAME, CHECKER_LABELS);
  return withDigest({ ...part, spec: rollingUpdate(CHECKER_SELECTOR, template) });
}

/**
 * What a Deployment is made as, before what it is to be is applied: at its first scale, and paused, so that nothing of
 * it ever runs. Whatever is made by POST is never given up by a later apply, so it holds only what stays.
 */
export function seedOf({ apiVersion, kind, metadata, ...part }: Part, replicas: number): object {
  const { selector, template } = part['spec'] as { selector: object; template: PodTemplate };
  const [container] = template.spec.containers;
  return {
    ...{ apiVersion, kind },
    metadata: { name: metadata.name, labels: metadata.labels },
    spec: {
      ...{ paused: true, replicas, selector },
      template: {
        metadata: { labels: (selector as { matchLabels: object }).matchLabels },
        spec: { containers: [{ name: CONTAINER_NAME, image: container?.image }] },
      },
    },
  };
}

function rollingUpdate(selector: Readonly<Record<string, string>>, template: PodTemplate) {
  return {
    paused: false,
    selector: { matchLabels: { ...selector } },
    minReadySeconds: MIN_READY_SECONDS,
    progressDeadlineSeconds: 120,
    // Of a former revision nothing could run: its Secret is gone.
    revisionHistoryLimit: 0,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } },
    template,
  };
}
