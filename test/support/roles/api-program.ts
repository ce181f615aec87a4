import { once } from 'node:events';
import { eventually } from '../eventually.ts';
import type { TestDatabase } from '../postgres.ts';
import { spawnProgram, type Ended } from '../program.ts';
import type { TestTransit } from '../transit.ts';

/** `tokenkeep api` in a process of its own, on free ports. */
export interface ApiProgram {
  readonly baseUrl: string;
  readonly internalUrl: string;
  readonly metricsUrl: string;
  output(): { stdout: string; stderr: string };
  /** SIGTERM; past what is promised until the exit, SIGKILL. */
  stop(): Promise<Ended>;
}

export interface ApiProgramOptions {
  readonly database: TestDatabase;
  readonly transit: TestTransit;
  /** A token of the policy tokenkeep-api. */
  readonly vaultToken: string;
  /** How the control plane shows who it is, and whatever else. */
  readonly flags: readonly string[];
}

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;

export function apiArguments({ database, transit, flags }: Omit<ApiProgramOptions, 'vaultToken'>): string[] {
  const ports = ['--port', '0', '--internal-port', '0', '--metrics-port', '0'];
  const databases = ['--maintenance-database-url', database.sweeperConnectionString, '--ip-rate-limits', 'off'];
  const url = flags.some((flag) => flag.startsWith('--database-url')) ? [] : ['--database-url'];
  const own = url.length === 0 ? [] : [...url, database.apiConnectionString];
  const keys = flags.includes('--keyring-dir') ? [] : transit.flags;
  return ['api', ...ports, ...own, ...databases, ...keys, ...flags];
}

/** Resolves once it says that it is ready. */
export async function startApiProgram(options: ApiProgramOptions): Promise<ApiProgram> {
  const { child, output, ended } = spawnProgram(apiArguments(options), { VAULT_TOKEN: options.vaultToken });
  const find = (pattern: RegExp): string => pattern.exec(output.stdout)?.[1] ?? fail();
  const fail = (): never => {
    throw new Error(`the API did not start:\n${output.stdout}\n${output.stderr}`);
  };
  try {
    await eventually(() => find(/^metrics (\S+)$/m), { deadlineMs: START_DEADLINE_MS });
    const baseUrl = find(/^API (\S+)$/m);
    await eventually(async () => (await fetch(`${baseUrl}/readyz`)).ok || fail(), { deadlineMs: START_DEADLINE_MS });
    return {
      baseUrl,
      internalUrl: find(/^internal API (\S+)$/m),
      metricsUrl: find(/^metrics (\S+)$/m),
      output: () => ({ ...output }),
      async stop() {
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
        child.kill('SIGTERM');
        const code = await ended;
        clearTimeout(timer);
        return { code, ...output };
      },
    };
  } catch (error) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    throw error;
  }
}
