import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NoGoProgramError } from './go-program.ts';

const run = promisify(execFile);

const DEADLINE_MS = 5 * 60_000;

/**
 * The folder with the files of a module, as the go.mod in `pins` requires it. Go keeps it outside of the checkout.
 *
 * @throws NoGoProgramError where Go is missing, or the module cannot be had
 */
export async function goModuleFolder(pins: URL, module: string): Promise<string> {
  try {
    const { stdout } = await run('go', ['mod', 'download', '-json', module], {
      cwd: fileURLToPath(pins),
      timeout: DEADLINE_MS,
      env: { ...process.env, GOFLAGS: '-mod=readonly' },
    });
    return (JSON.parse(stdout) as { Dir: string }).Dir;
  } catch (error) {
    throw new NoGoProgramError(`the files of ${module} cannot be had`, { cause: error });
  }
}
