import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import type { ResourcePath } from '../../../platform/kubernetes/paths.ts';
import { isOlder } from '../../resource-version.ts';
import { seedOf } from '../../workloads/deployment.ts';
import { RENDERED_ANNOTATION } from '../../workloads/names.ts';
import { PART_KINDS } from '../../workloads/parts.ts';
import type { Part, PartKind } from '../../workloads/parts.ts';
import type { ObservedDeployment, ObservedPart } from './objects.ts';
import type { Observed } from './observed.ts';
import { isEdited, surplusOf } from './ownership.ts';

/** Brings parts to what they are to be. Asks nothing of the cluster where they are. Rejects with a KubernetesError. */
export interface PartWriter {
  /** Makes what is missing, and changes what was rendered as something else, or was edited by others. */
  ensure(part: Part): Promise<void>;
  /** Makes or changes it, whatever is there. */
  write(part: Part): Promise<void>;
  /** As `ensure`; one that is new begins with `replicas`. */
  ensureDeployment(part: Part, replicas: number): Promise<void>;
  /** Through the subresource alone. Nothing where the Deployment has this scale. */
  scale(name: string, replicas: number): Promise<void>;
  remove(kind: PartKind, object: ObservedPart): Promise<void>;
}

interface Scaled {
  replicas: number;
  resourceVersion: string;
}

export function createPartWriter(
  client: Pick<KubernetesClient, 'create' | 'apply' | 'mergePatch' | 'remove'>,
  namespace: string,
  observed: Observed,
): PartWriter {
  /** What a scale answered, until the watch tells of it. */
  const scaled = new Map<string, Scaled>();
  const at = (kind: PartKind, name?: string): ResourcePath => ({
    ...PART_KINDS[kind],
    namespace,
    ...(name === undefined ? {} : { name }),
  });

  async function apply(part: Part): Promise<void> {
    const path = at(part.kind, part.metadata.name);
    const applied = await client.apply<ObservedPart>(path, part);
    observed.wrote(part.kind, applied);
    const patch = surplusOf(part, applied);
    if (patch !== undefined) observed.wrote(part.kind, await client.mergePatch<ObservedPart>(path, patch));
  }

  async function write(part: Part): Promise<void> {
    if (observed.part(part.kind, part.metadata.name) !== undefined) return apply(part);
    const isMade = await create(part.kind, part);
    if (!isMade) await apply(part);
  }

  /** False where there is one of this name that nobody has told of. */
  async function create(kind: PartKind, object: object): Promise<boolean> {
    try {
      observed.wrote(kind, await client.create<ObservedPart>(at(kind), object));
      return true;
    } catch (error) {
      if (error instanceof KubernetesError && error.reason === 'AlreadyExists') return false;
      throw error;
    }
  }

  function isRendered(part: Part): boolean {
    const { kind, metadata } = part;
    const known = observed.part(kind, metadata.name);
    if (known === undefined) return false;
    if (isEdited(part, known) || surplusOf(part, known) !== undefined) return false;
    const digest = metadata.annotations?.[RENDERED_ANNOTATION];
    // What has no digest never changes.
    return digest === undefined || known.metadata.annotations?.[RENDERED_ANNOTATION] === digest;
  }

  return {
    write,
    async ensure(part) {
      if (!isRendered(part)) await write(part);
    },
    async ensureDeployment(part, replicas) {
      if (isRendered(part)) return;
      const { kind, metadata } = part;
      if (observed.part(kind, metadata.name) === undefined) await create(kind, seedOf(part, replicas));
      await apply(part);
    },
    async scale(name, replicas) {
      const known = observed.deployment(name);
      const answer = scaled.get(name);
      const isAhead = answer !== undefined && isOlder(known?.metadata.resourceVersion, answer.resourceVersion);
      if (!isAhead) scaled.delete(name);
      if ((isAhead ? answer.replicas : known?.spec.replicas) === replicas) return;
      const path = { ...at('Deployment', name), subresource: 'scale' };
      const { metadata } = await client.mergePatch<ObservedDeployment>(path, { spec: { replicas } });
      scaled.set(name, { replicas, resourceVersion: metadata.resourceVersion });
    },
    async remove(kind, { metadata }) {
      // This very object: another of its name may be there by now.
      await client.remove(at(kind, metadata.name), { uid: metadata.uid }).catch((error: unknown) => {
        if (!(error instanceof KubernetesError && error.status === 409)) throw error;
      });
    },
  };
}
