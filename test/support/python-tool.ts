import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The machine has no Python with which a tool could be installed. */
export class NoPythonError extends Error {
  override readonly name = 'NoPythonError';
}

export interface PythonTool {
  /** Of its folder. */
  readonly name: string;
  /** A file that pins it and all that it needs. */
  readonly requirements: URL;
  /** In its `bin`. */
  readonly program: string;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Installs a tool from PyPI at the versions of its requirements, outside of the checkout, where another checkout finds
 * it.
 *
 * @returns the path of its program
 * @throws NoPythonError where `python3 -m venv` does not work here
 */
export async function installPythonTool({ name, requirements, program }: PythonTool): Promise<string> {
  const version = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenkeep', 'tools');
  const home = join(cache, `${name}-${version}`);
  const installed = join(home, 'installed');
  const path = join(home, 'bin', program);
  if (await exists(installed)) return path;

  await mkdir(cache, { recursive: true });
  await rm(home, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', home]).catch((error: unknown) => {
    throw new NoPythonError('python3 with venv and pip is not on this machine', { cause: error });
  });
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  await run(join(home, 'bin', 'pip'), ['install', ...options, '--requirement', fileURLToPath(requirements)]);
  // Last: what an interrupted installation leaves behind is not taken for an installed tool.
  await writeFile(installed, '');
  return path;
}
