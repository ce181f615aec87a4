import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const REQUIREMENTS = new URL('../../config/schemathesis-requirements.txt', import.meta.url);

/** The machine has no Python with which the judge could be installed. */
export class NoPythonError extends Error {
  override readonly name = 'NoPythonError';
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Installs the judge at the versions of its requirements, outside of the checkout, where another checkout finds it.
 *
 * @returns the path of its program
 * @throws NoPythonError where `python3 -m venv` does not work here
 */
export async function installJudge(): Promise<string> {
  const requirements = await readFile(REQUIREMENTS);
  const version = createHash('sha256').update(requirements).digest('hex').slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenkeep', 'tools');
  const home = join(cache, `schemathesis-${version}`);
  const installed = join(home, 'installed');
  const program = join(home, 'bin', 'schemathesis');
  if (await exists(installed)) return program;

  await mkdir(cache, { recursive: true });
  await rm(home, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', home]).catch((error: unknown) => {
    throw new NoPythonError('python3 with venv and pip is not on this machine', { cause: error });
  });
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  await run(join(home, 'bin', 'pip'), ['install', ...options, '--requirement', fileURLToPath(REQUIREMENTS)]);
  // Last: what an interrupted installation leaves behind is not taken for an installed judge.
  await writeFile(installed, '');
  return program;
}
