import type { ReactorWorkload } from '../../../src/domain/declarations.ts';
import type { ReactorRuntime, RuntimeState } from '../../../src/operator/runtimes/types.ts';

/** A runtime whose instances are ready at once and run nothing. */
export interface InMemoryRuntime extends ReactorRuntime {
  states: Map<string, RuntimeState>;
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
  return {
    states,
    async apply({ tenantId, reactorId, revision }: ReactorWorkload, replicas) {
      const ready = Array.from({ length: replicas }, (_, index) => instance(revision, index));
      const state = { tenantId, reactorId, revision, ready, desired: replicas };
      states.set(reactorId, state);
      tell(state);
    },
    async remove(tenantId, reactorId) {
      states.delete(reactorId);
      tell({ tenantId, reactorId, revision: '', ready: [], desired: 0 });
    },
    list: () => [...states.values()],
    onChange: (listener) => void listeners.push(listener),
    checker: async () => instance('', 999),
    stop: async () => undefined,
  };
}
