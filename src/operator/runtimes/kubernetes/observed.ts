import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import type { Logger } from '../../../platform/logger.ts';
import { createReflector } from '../../kubernetes/reflector.ts';
import type { RestartReason } from '../../kubernetes/restart-reasons.ts';
import { isOlder } from '../../resource-version.ts';
import type { Timers } from '../../timers.ts';
import { CHECKER_NAME, CHECKER_APP, APP_LABEL, OURS_SELECTOR, reactorOf, workloadName } from '../../workloads/names.ts';
import type { ReactorName } from '../../workloads/names.ts';
import { PART_KINDS } from '../../workloads/parts.ts';
import type { PartKind } from '../../workloads/parts.ts';
import type { ObservedDeployment, ObservedPart, ObservedPod } from './objects.ts';

export interface ObservedOptions {
  client: KubernetesClient;
  namespace: string;
  clock: Timers;
  logger: Logger;
  /** Something of a workload came, changed or went. `SHARED` for what belongs to none. */
  changed: (workload: string) => void;
  onRestart?: (plural: string, reason: RestartReason) => void;
  onListenerError?: (plural: string) => void;
}

/** What of our objects there is, as watches tell it. Of all but Deployments and pods, the metadata alone is kept. */
export interface Observed {
  /** Resolves once everything was told of; rejects where it is stopped before. */
  start(): Promise<void>;
  stop(): Promise<void>;
  deployment(name: string): ObservedDeployment | undefined;
  part(kind: PartKind, name: string): ObservedPart | undefined;
  /** All parts of a workload but its Deployment. */
  otherParts(workload: string): { kind: PartKind; object: ObservedPart }[];
  podsOf(workload: string): ObservedPod[];
  /** The reactors of which anything is there. */
  reactors(): Map<string, ReactorName>;
  /** Takes in what a write answered, before the watch tells of it. */
  wrote(kind: PartKind, answer: ObservedPart): void;
}

/** In place of a workload's name: what is of all of them. */
export const SHARED = 'shared';

/** How long an answer counts that no watch has told of: something may have undone it in a gap. */
const UNCONFIRMED_MS = 30_000;
const KINDS = Object.keys(PART_KINDS) as PartKind[];

interface Written {
  object: ObservedPart;
  atMs: number;
}

export function createObserved(options: ObservedOptions): Observed {
  const { client, namespace, clock, logger, changed } = options;
  const parts = new Map<PartKind, Map<string, ObservedPart>>(KINDS.map((kind) => [kind, new Map()]));
  const written = new Map<string, Written>();
  const pods = new Map<string, ObservedPod>();
  const owners = new WeakMap<ObservedPart, string>();

  /** Worked out once for each object: it takes a digest. */
  function ownerOf(object: ObservedPart): string {
    const owner = owners.get(object) ?? workloadOf(object);
    owners.set(object, owner);
    return owner;
  }

  function reflect<T extends ObservedPart>(
    at: { group: string; version: string; plural: string },
    known: Map<string, T>,
    { metadataOnly, transform }: { metadataOnly: boolean; transform: (object: T) => T },
  ) {
    return createReflector<T, T>({
      ...{ client, clock, logger, transform },
      at: { ...at, namespace },
      selection: { labelSelector: OURS_SELECTOR, metadataOnly },
      onRestart: (reason) => options.onRestart?.(at.plural, reason),
      onListenerError: () => options.onListenerError?.(at.plural),
      listener: {
        applied(object) {
          const before = known.get(object.metadata.name);
          known.set(object.metadata.name, object);
          // Somebody may have changed the labels that say whose it is.
          for (const owner of new Set([before, object].flatMap((each) => (each ? ownerOf(each) : [])))) changed(owner);
        },
        removed({ name }) {
          const object = known.get(name);
          known.delete(name);
          if (object !== undefined) changed(ownerOf(object));
        },
      },
    });
  }

  const reflectors = [
    ...KINDS.map((kind) =>
      reflect(PART_KINDS[kind], parts.get(kind)!, {
        metadataOnly: kind !== 'Deployment',
        transform: (object) => slimPart(kind, object),
      }),
    ),
    reflect({ group: '', version: 'v1', plural: 'pods' }, pods, { metadataOnly: false, transform: slimPod }),
  ];

  function part(kind: PartKind, name: string): ObservedPart | undefined {
    const told = parts.get(kind)!.get(name);
    const answer = written.get(`${kind}/${name}`);
    if (answer === undefined) return told;
    const isFresh = clock.now() - answer.atMs < UNCONFIRMED_MS;
    const toldVersion = told?.metadata.resourceVersion;
    const isAhead = told === undefined || isOlder(toldVersion, answer.object.metadata.resourceVersion);
    if (isFresh && isAhead) return answer.object;
    written.delete(`${kind}/${name}`);
    return told;
  }

  const deployment = (name: string) => part('Deployment', name) as ObservedDeployment | undefined;
  const all = (): ObservedPart[] => [...[...parts.values()].flatMap((known) => [...known.values()]), ...pods.values()];

  return {
    async start() {
      await Promise.all(reflectors.map((reflector) => reflector.start()));
    },
    async stop() {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
    },
    ...{ deployment, part },
    otherParts: (workload) =>
      KINDS.filter((kind) => kind !== 'Deployment').flatMap((kind) =>
        [...parts.get(kind)!.values()]
          .filter((object) => ownerOf(object) === workload)
          .map((object) => ({ kind, object })),
      ),
    podsOf: (workload) => [...pods.values()].filter((pod) => ownerOf(pod) === workload),
    reactors() {
      const names = all().flatMap(({ metadata }) => reactorOf(metadata.labels) ?? []);
      return new Map(names.map((name) => [workloadName(name), name]));
    },
    wrote(kind, answer) {
      written.set(`${kind}/${answer.metadata.name}`, { object: slimPart(kind, answer), atMs: clock.now() });
    },
  };
}

/** The name of the workload that an object is of. */
function workloadOf({ metadata }: ObservedPart): string {
  const reactor = reactorOf(metadata.labels);
  if (reactor !== undefined) return workloadName(reactor);
  return metadata.labels?.[APP_LABEL] === CHECKER_APP ? CHECKER_NAME : SHARED;
}

/** Without values of a Secret that a write has answered. */
function slim({ metadata }: ObservedPart): ObservedPart {
  const { name, uid, resourceVersion, generation, deletionTimestamp, labels, annotations } = metadata;
  return {
    metadata: {
      ...{ name, uid, resourceVersion },
      ...(generation === undefined ? {} : { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  };
}

function slimPart(kind: PartKind, object: ObservedPart): ObservedPart {
  const part = kind === 'Deployment' ? slimDeployment(object as ObservedDeployment) : slim(object);
  // Who owns its fields tells whether somebody has edited it.
  const managedFields = object.metadata.managedFields?.filter(({ subresource }) => subresource === undefined);
  return managedFields === undefined ? part : { ...part, metadata: { ...part.metadata, managedFields } };
}

function slimDeployment(object: ObservedDeployment): ObservedDeployment {
  const { replicas } = object.spec;
  return {
    ...slim(object),
    spec: replicas === undefined ? {} : { replicas },
    ...(object.status === undefined ? {} : { status: object.status }),
  };
}

function slimPod(object: ObservedPod): ObservedPod {
  const { phase, podIP, conditions, containerStatuses } = object.status ?? {};
  return {
    ...slim(object),
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(podIP === undefined ? {} : { podIP }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(containerStatuses === undefined ? {} : { containerStatuses }),
    },
  };
}
