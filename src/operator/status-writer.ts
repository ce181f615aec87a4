import type { Condition } from '../domain/resource-status.ts';
import { isDeepStrictEqual } from 'node:util';
import { firstConditions } from './conditions.ts';
import type { Timers } from './timers.ts';
import { refOf } from './kinds/resources.ts';
import type { AnyResource, ResourceOf } from './kinds/resources.ts';
import type { StatusFields } from './reconcilers/types.ts';
import type { ResourceKind, ResourceSource, ResourceStatus } from './sources/types.ts';
import type { ResourceStore } from './store.ts';

type MakeConditions = (generation: number, before: readonly Condition[], nowMs: number) => Condition[];

/** Writes the status of resources, and only where it differs: each write wakes whoever watches. */
export interface StatusWriter {
  writeConditions(resource: AnyResource, make: MakeConditions, fields?: object): Promise<void>;
  /**
   * Durable before the promise resolves: what cleaning up will need is written before there is something to clean up.
   */
  writeFields<Kind extends ResourceKind>(resource: ResourceOf[Kind], fields: StatusFields<Kind>): Promise<void>;
}

export function createStatusWriter(source: ResourceSource, store: ResourceStore, clock: Timers): StatusWriter {
  const currentStatus = ({ kind, metadata, status }: AnyResource): ResourceStatus =>
    store.get(kind, metadata.namespace, metadata.name)?.status ?? status ?? { conditions: [] };

  async function write(resource: AnyResource, before: ResourceStatus, next: ResourceStatus): Promise<void> {
    // Members that are undefined stand for members that go.
    const plain = JSON.parse(JSON.stringify(next)) as ResourceStatus;
    if (!isDeepStrictEqual(plain, before)) await source.writeStatus(refOf(resource), plain);
  }

  return {
    async writeConditions(resource, make, fields = {}) {
      const { generation } = resource.metadata;
      const before = currentStatus(resource);
      const conditions = make(generation, before.conditions, clock.now());
      await write(resource, before, { ...before, ...fields, observedGeneration: generation, conditions });
    },
    async writeFields(resource, fields) {
      const before = currentStatus(resource);
      const isFirst = before.conditions.length === 0;
      const conditions = isFirst ? firstConditions(resource.metadata.generation, clock.now()) : before.conditions;
      await write(resource, before, { ...before, ...fields, conditions });
    },
  };
}
