import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Context } from 'mocha';

const run = promisify(execFile);

const MODULE = new URL('../../config/toxiproxy/', import.meta.url);
const PACKAGE = 'github.com/Shopify/toxiproxy/v2/cmd/server';
const BUILD_DEADLINE_MS = 15 * 60_000;

/** It cannot be built on this machine. */
class NoToxiproxyError extends Error {
  override readonly name = 'NoToxiproxyError';
}

/**
 * Builds toxiproxy from the sources that config/toxiproxy pins, outside of the checkout, where another checkout finds
 * it.
 *
 * @returns the path of its program
 * @throws NoToxiproxyError where Go is missing or too old, or its modules cannot be had
 */
export async function installToxiproxy(): Promise<string> {
  const sums = await readFile(new URL('go.sum', MODULE));
  const version = createHash('sha256').update(sums).digest('hex').slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenkeep', 'tools');
  const program = join(cache, `toxiproxy-${version}`, 'toxiproxy-server');
  if (await isProgram(program)) return program;

  await mkdir(cache, { recursive: true });
  // Go puts its result in place as a whole: what is there is never half a program.
  await run('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', program, PACKAGE], {
    cwd: fileURLToPath(MODULE),
    timeout: BUILD_DEADLINE_MS,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
  }).catch((error: unknown) => {
    throw new NoToxiproxyError(`toxiproxy cannot be built: ${reasonOf(error)}`, { cause: error });
  });
  return program;
}

/**
 * The program that TOKENKEEP_TEST_TOXIPROXY names, or else one that is built once. Skips the tests where there is none,
 * saying so; in CI, fails them. To be called in a `before` hook.
 */
export async function requireToxiproxy(context: Context): Promise<string> {
  const named = process.env['TOKENKEEP_TEST_TOXIPROXY'];
  if (named !== undefined) return named;
  context.timeout(BUILD_DEADLINE_MS);
  try {
    return await installToxiproxy();
  } catch (error) {
    if (!(error instanceof NoToxiproxyError) || process.env['CI'] === 'true') throw error;
    process.stderr.write(`SKIPPED: ${error.message}; install Go, or set TOKENKEEP_TEST_TOXIPROXY\n`);
    return context.skip();
  }
}

function isProgram(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function reasonOf(error: unknown): string {
  const { code, stderr } = error as { code?: unknown; stderr?: string };
  if (code === 'ENOENT') return 'Go (from 1.19 on) is not on this machine';
  return stderr?.trim().split('\n').at(-1) ?? String(code);
}
