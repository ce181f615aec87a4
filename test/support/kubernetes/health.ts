import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Context } from 'mocha';
import { installGoProgram, requireGoPrograms, type GoProgram } from '../go-program.ts';

/** Laid out as in Argo CD's own repository: <group>/<Kind>/health.lua, with its tests beside. */
export const CUSTOMIZATIONS = fileURLToPath(
  new URL('../../../config/argocd/resource_customizations/', import.meta.url),
);

const HEALTH: GoProgram = {
  name: 'health',
  module: new URL('../../../config/health/', import.meta.url),
  package: '.',
  sources: ['main.go'],
  takes: 'about 1 minute',
};

interface Verdict {
  readonly status: string;
  readonly message: string;
}

/** What GitOps tools make of one resource. */
export interface Health {
  /** `Current`, `InProgress`, `Failed` or `Terminating`; of Flux, and of `helm --wait` from Helm 4 on. */
  readonly kstatus: Verdict;
  /** `Healthy`, `Progressing`, `Degraded` or `Suspended`. */
  readonly argo: Verdict;
}

/** Builds, outside of the checkout, what tells the health of a resource. */
export async function installHealth(): Promise<void> {
  await installGoProgram(HEALTH);
}

/** Skips the tests where it cannot be had; in CI, fails them. To be called in a `before` hook. */
export async function requireHealth(context: Context): Promise<void> {
  await requireGoPrograms(context, [HEALTH]);
}

/** The health of each of these resources, judged by kstatus itself and by our checks in Argo CD's interpreter. */
export async function healthOf(resources: readonly object[]): Promise<Health[]> {
  const program = await installGoProgram(HEALTH);
  const child = spawn(program, [CUSTOMIZATIONS]);
  child.stdin.end(resources.map((resource) => `${JSON.stringify(resource)}\n`).join(''));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`health: ${stderr.trim()}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Health);
}
