import type { ReactorDemand, ReactorInstance } from '../../domain/declarations.ts';
import type { ReactorClient } from '../../reactors/client.ts';

export interface InstanceParts {
  readonly client: ReactorClient;
}

/** Makes the ready instances of a reactor, of all its revisions, those that are given. */
export function putInstances(
  { client }: InstanceParts,
  tenantId: string,
  reactorId: string,
  instances: ReactorInstance[],
): void {
  client.instances.replace(tenantId, reactorId, instances);
}

/** Makes this the instance that checks code. */
export function putChecker({ client }: InstanceParts, instance: ReactorInstance): void {
  client.instances.setChecker(instance);
}

/** The reactors that have invocations running or waiting at this replica. */
export function listDemand({ client }: InstanceParts): ReactorDemand[] {
  return client.demand();
}
