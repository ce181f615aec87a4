import type { ReactorWorkload, ScalingEngine } from '../../../src/domain/declarations.ts';
import type { ReactorRuntime, RuntimeState } from '../../../src/operator/runtimes/types.ts';

/** A runtime whose instances are ready at once and run nothing. */
export interface InMemoryRuntime extends Omit<ReactorRuntime, 'engines'> {
  engines?: readonly ScalingEngine[];
  /** By `tenantId/reactorId`. */
  states: Map<string, RuntimeState>;
  /** What it says of the instance that checks code. */
  checkerFault: string | undefined;
  /** What the instances of a removed reactor take to come to their end: nothing, unless told. */
  drained: Promise<void>;
}

export function createInMemoryRuntime(): InMemoryRuntime {
  const states = new Map<string, RuntimeState>();
  const listeners: ((state: RuntimeState) => void)[] = [];
  const tell = (state: RuntimeState) => listeners.forEach((listener) => listener(state));
  const instance = (revision: string, index: number) => ({
    address: `http://127.0.0.1:${40_000 + index}`,
    credential: `credential-${index}`,
    revision,
  });
  const runtime: InMemoryRuntime = {
    states,
    checkerFault: undefined,
    drained: Promise.resolve(),
    async apply({ tenantId, reactorId, revision, scaling }: ReactorWorkload, replicas = scaling.minReplicas) {
      const ready = Array.from({ length: replicas }, (_, index) => instance(revision, index));
      const state = { tenantId, reactorId, revision, ready, desired: replicas };
      states.set(`${tenantId}/${reactorId}`, state);
      tell(state);
    },
    async remove(tenantId, reactorId) {
      states.delete(`${tenantId}/${reactorId}`);
      tell({ tenantId, reactorId, revision: '', ready: [], desired: 0 });
      await runtime.drained;
    },
    list: () => [...states.values()],
    onChange: (listener) => void listeners.push(listener),
    checker: async () => instance('', 999),
    checkerFailure: () => runtime.checkerFault,
    stop: async () => undefined,
  };
  return runtime;
}
