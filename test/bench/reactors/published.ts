import { execFile } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** In the checkout, so that its modules find theirs. */
const FOLDER = join(ROOT, 'node_modules', '.cache', 'tokenkeep-bench');

/** The program as it is published, compiled: a checkout has types to take out at every start. Its folder. */
export async function buildPublished(): Promise<{ folder: string } & AsyncDisposable> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  await cp(join(ROOT, 'package.json'), join(FOLDER, 'package.json'));
  const folder = join(FOLDER, 'dist');
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const project = join(ROOT, 'config', 'tsconfig.build.json');
  await promisify(execFile)(process.execPath, [tsc, '-p', project, '--outDir', folder, '--noCheck']);
  return { folder, [Symbol.asyncDispose]: () => rm(FOLDER, { recursive: true, force: true }) };
}
