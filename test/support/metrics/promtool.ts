import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Context } from 'mocha';

/** The program that the variable names, or the one on the path. */
export function findPrometheusProgram(name: 'promtool' | 'prometheus'): string | undefined {
  const named = process.env[`TOKENKEEP_TEST_${name.toUpperCase()}`];
  if (named !== undefined) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Skips the tests where there is no promtool, saying so; in CI, fails them. To be called in a `before` hook. */
export function requirePromtool(context: Context): Promtool {
  const program = findPrometheusProgram('promtool');
  if (program !== undefined) return createPromtool(program);
  const reason = 'promtool is needed: install the package prometheus, or set TOKENKEEP_TEST_PROMTOOL';
  if (process.env['CI'] === 'true') throw new Error(reason);
  process.stderr.write(`SKIPPED: ${reason}\n`);
  return context.skip();
}

export interface Promtool {
  /** What it says to be wrong with metrics as they are served; nothing where all is well. */
  findingsOn(metrics: string): Promise<string>;
  /** Runs it in a folder; gives what it printed. Throws where it ends with another code than 0. */
  run(args: readonly string[], cwd: string): Promise<string>;
}

function createPromtool(program: string): Promtool {
  async function execute(args: readonly string[], { cwd, input = '' }: { cwd?: string; input?: string }) {
    const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(input);
    const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { output: stdout + stderr, code };
  }

  return {
    async findingsOn(metrics) {
      const { output, code } = await execute(['check', 'metrics'], { input: metrics });
      return code === 0 ? output.trim() : `${output.trim()} (ended with ${code})`;
    },
    async run(args, cwd) {
      const { output, code } = await execute(args, { cwd });
      if (code !== 0) throw new Error(`promtool ${args.join(' ')} ended with ${code}: ${output}`);
      return output;
    },
  };
}
