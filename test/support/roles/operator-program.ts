import { once } from 'node:events';
import { eventually } from '../eventually.ts';
import { spawnProgram, type Ended } from '../program.ts';

/** `tokenkeep operator` in a process of its own, with metrics and health on free ports. */
export interface OperatorProgram {
  readonly healthUrl: string;
  readonly metricsUrl: string;
  output(): { stdout: string; stderr: string };
  /** Resolves once it leads, and has listed what there is. */
  leading(): Promise<void>;
  /** SIGTERM; past what is promised until the exit, SIGKILL. */
  stop(): Promise<Ended>;
  /** Resolves once it has ended by itself. */
  ended(): Promise<Ended>;
  kill(): Promise<void>;
}

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;

/** Resolves once it stands as a candidate. */
export async function startOperatorProgram(flags: readonly string[]): Promise<OperatorProgram> {
  const args = ['operator', '--metrics-port', '0', '--health-port', '0', ...flags];
  const { child, output, ended } = spawnProgram(args);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const find = (pattern: RegExp): string => {
    const found = pattern.exec(output.stdout)?.[1];
    if (found === undefined) throw new Error(`the operator has not said ${pattern.source}:\n${output.stderr}`);
    return found;
  };
  const kill = async (): Promise<void> => {
    if (hasEnded()) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  try {
    const healthUrl = await eventually(() => find(/^health (\S+)$/m), { deadlineMs: START_DEADLINE_MS });
    return {
      ...{ healthUrl, metricsUrl: find(/^metrics (\S+)$/m), kill },
      output: () => ({ ...output }),
      leading: async () => void (await eventually(() => find(/^(leading)$/m), { deadlineMs: START_DEADLINE_MS })),
      async stop() {
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
        child.kill('SIGTERM');
        const code = await ended;
        clearTimeout(timer);
        return { code, ...output };
      },
      ended: async () => ({ code: await ended, ...output }),
    };
  } catch (error) {
    await kill();
    throw error;
  }
}
