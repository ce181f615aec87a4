import type { ReactorWorkload } from '../../../domain/declarations.ts';
import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, RENDERED_ANNOTATION, workloadName } from '../../workloads/names.ts';
import { withDigest } from '../../workloads/parts.ts';
import { buildScaledObject, SCALED_OBJECTS } from '../../workloads/scaled-object.ts';
import type { ScaledObject } from '../../workloads/scaled-object.ts';
import type { ObservedPart } from './objects.ts';
import { isEdited } from './ownership.ts';

/** KEDA cannot scale what is to be scaled by it. The message tells a person what to do. */
export class ScalerMissingError extends Error {
  override readonly name = 'ScalerMissingError';
}

/** The ScaledObjects of reactors that KEDA scales. */
export interface Scaler {
  /**
   * Makes, changes or removes that of a reactor, as its engine asks. Resolves with when to look again: in how many ms,
   * undefined where there is nothing to look after. Rejects with a ScalerMissingError, among others.
   */
  ensure(workload: ReactorWorkload): Promise<number | undefined>;
  /** Nothing where there is none. */
  remove(name: string): Promise<void>;
}

export interface ScalerOptions {
  client: Pick<KubernetesClient, 'listPage' | 'apply' | 'remove'>;
  namespace: string;
  clock: Clock;
  /** Absent: KEDA can scale nothing. */
  metricsOrigin?: string | undefined;
}

/** How often is looked whether somebody has changed any. A watch would need KEDA to be there. */
const LOOK_MS = 60_000;

export function createScaler({ client, namespace, clock, metricsOrigin }: ScalerOptions): Scaler {
  const at = { ...SCALED_OBJECTS, namespace };
  /** What there is, by name. */
  let known: Promise<Map<string, ObservedPart>> | undefined;
  let listedAt = -Infinity;

  async function list(): Promise<Map<string, ObservedPart>> {
    try {
      const query = { labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}`, metadataOnly: true };
      const { items } = await client.listPage<ObservedPart>(at, query);
      return new Map(items.map((object) => [object.metadata.name, object]));
    } catch (error) {
      if (isMissing(error)) return new Map();
      throw error;
    }
  }

  async function knownNow(isFresh = false): Promise<Map<string, ObservedPart>> {
    if (isFresh && clock.now() - listedAt >= LOOK_MS) known = undefined;
    if (known === undefined) listedAt = clock.now();
    known ??= list();
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw error;
    }
  }

  async function remove(name: string): Promise<void> {
    const there = await knownNow();
    if (!there.has(name)) return;
    await client.remove({ ...at, name });
    there.delete(name);
  }

  return {
    remove,
    async ensure(workload) {
      const name = workloadName(workload);
      if (workload.scaling.engine !== 'KEDA') {
        await remove(name);
        return undefined;
      }
      if (metricsOrigin === undefined) {
        throw new ScalerMissingError('KEDA is to scale this reactor: give the operator --api-metrics-url');
      }
      const object = withDigest(buildScaledObject(workload, metricsOrigin));
      const there = await knownNow(true);
      const stored = there.get(name);
      if (stored !== undefined && isAsApplied(object, stored)) return LOOK_MS;
      try {
        there.set(name, await client.apply<ObservedPart>({ ...at, name }, object));
      } catch (error) {
        if (!isMissing(error)) throw error;
        throw new ScalerMissingError('KEDA is to scale this reactor: install KEDA, 2.20 or later');
      }
      return LOOK_MS;
    },
  };
}

/** KEDA adds labels, a finalizer and more, which are let be. */
function isAsApplied(object: ScaledObject, stored: ObservedPart): boolean {
  const digest = object.metadata.annotations?.[RENDERED_ANNOTATION];
  return stored.metadata.annotations?.[RENDERED_ANNOTATION] === digest && !isEdited({ ...object }, stored);
}

/** The cluster knows no such kind. */
function isMissing(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 404;
}
