import type { ReactorInstance, ReactorWorkload } from '../../domain/declarations.ts';
import type { ReactorLog } from '../../domain/reactor-supervision.ts';
import { ProcessFleet } from './process-fleet.ts';
import { SupervisorProcess } from './supervisor-process.ts';
import type { SupervisorCommand } from './supervisor-process.ts';
import type { ReactorRuntime, RuntimeState } from './types.ts';

export interface ProcessRuntimeOptions {
  /** For example `['/…/src/main.ts', 'reactor']`. */
  command: SupervisorCommand;
  /** How long a replaced revision goes on beside the new one, in ms. Default 1,500: as long as replicas may lag. */
  overlapMs?: number;
  /** The code of a reactor has printed a line. */
  onLog?: (line: ReactorLog) => void;
}

const DEFAULT_OVERLAP_MS = 1_500;
const KILL_GRACE_MS = 2_000;

/** Runs reactors as child processes of this one. They end with it, even when it is killed. */
export function createProcessRuntime(options: ProcessRuntimeOptions): ReactorRuntime {
  const { command, overlapMs = DEFAULT_OVERLAP_MS, onLog } = options;
  const fleets = new Map<string, ProcessFleet>();
  const draining = new Set<ProcessFleet>();
  const listeners: ((state: RuntimeState) => void)[] = [];
  const changed = (state: RuntimeState): void => listeners.forEach((listener) => listener(state));
  let checker: SupervisorProcess | undefined;
  let stopped = false;

  function startChecker(): SupervisorProcess {
    const started = new SupervisorProcess(command, undefined);
    void started.exited.then(() => {
      if (checker === started) checker = undefined;
    });
    return started;
  }

  return {
    async apply(workload: ReactorWorkload, replicas = workload.scaling.minReplicas) {
      if (stopped) return;
      const key = `${workload.tenantId}/${workload.reactorId}`;
      const fleet =
        fleets.get(key) ?? new ProcessFleet(workload, { command, overlapMs, changed, ...(onLog ? { onLog } : {}) });
      fleets.set(key, fleet);
      fleet.apply(workload, replicas);
    },
    async remove(tenantId, reactorId) {
      const key = `${tenantId}/${reactorId}`;
      const fleet = fleets.get(key);
      if (!fleet) return;
      fleets.delete(key);
      draining.add(fleet);
      await fleet.drain();
      draining.delete(fleet);
    },
    list: () => [...fleets.values()].map((fleet) => fleet.state()),
    onChange(listener) {
      listeners.push(listener);
    },
    async checker(): Promise<ReactorInstance> {
      if (stopped) throw new Error('the runtime has been stopped');
      return (checker ??= startChecker()).ready;
    },
    async stop() {
      stopped = true;
      const all = [...fleets.values(), ...draining];
      fleets.clear();
      await Promise.all([...all.map((fleet) => fleet.kill()), checker?.kill(KILL_GRACE_MS)]);
    },
  };
}
