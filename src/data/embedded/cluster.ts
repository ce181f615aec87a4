import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, lstat, mkdir, open, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from '../../platform/logger.ts';
import type { BinariesFolder } from './binaries.ts';
import { asUser, canEnter, type ServerUser } from './server-user.ts';

/** Where everything lies that root's Postgres cannot have in the data folder itself. */
export const SYSTEM_HOME = '/var/lib/tokenkeep';

export const SUPERUSER = 'tokenkeep';

/** In the data folder: the password of the superuser. */
export const PASSWORD_FILE = 'postgres-password';

export interface Cluster {
  /** Postgres's data directory, with links resolved. */
  readonly folder: string;
  readonly password: string;
}

export interface ClusterOptions {
  readonly dataDir: string;
  readonly user: ServerUser | undefined;
  readonly logger: Logger;
}

/** Finds the cluster of a data folder, or makes an empty one on the first start. */
export async function prepareCluster(
  options: ClusterOptions & { readonly binaries: BinariesFolder; readonly syncInitdb: boolean },
): Promise<Cluster> {
  const { dataDir, user } = options;
  const link = join(dataDir, 'postgres');
  const existing = await findCluster(link);
  const password = await readOrMakePassword(join(dataDir, PASSWORD_FILE), existing !== undefined);
  if (existing !== undefined) {
    if (await canEnter(existing, user)) return { folder: existing, password };
    throw new Error(
      `the user ${user?.name ?? 'of this process'} cannot enter ${existing}: move it, or open its folders`,
    );
  }
  return { folder: await makeCluster(link, password, options), password };
}

async function findCluster(link: string): Promise<string | undefined> {
  const entry = await lstat(link).catch(() => undefined);
  if (entry === undefined) return undefined;
  return realpath(link).catch(() => {
    throw new Error(`${link} points nowhere: restore the database, or remove the link to begin with an empty one`);
  });
}

async function readOrMakePassword(file: string, mustExist: boolean): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (mustExist) throw new Error(`${file} is missing, without which the database beside it does not open`);
  const password = randomBytes(32).toString('hex');
  const handle = await open(file, 'wx', 0o600);
  await handle.writeFile(password);
  await handle.sync();
  await handle.close();
  return password;
}

/** Initialised under another name and renamed when complete: a start that is killed half-way leaves no half cluster. */
async function makeCluster(
  link: string,
  password: string,
  options: Parameters<typeof prepareCluster>[0],
): Promise<string> {
  const { dataDir, user, logger } = options;
  const folder = (await canEnter(dataDir, user)) ? link : await outsideFolder(dataDir, logger);
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (user !== undefined) await chown(unfinished, user.uid, user.gid);
  logger.info({ folder }, 'Database creation started, which takes some seconds the first time');
  await initdb(unfinished, password, options);
  await rename(unfinished, folder);
  if (folder !== link) await symlink(folder, link);
  return folder;
}

async function outsideFolder(dataDir: string, logger: Logger): Promise<string> {
  const name = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 16);
  const folder = join(SYSTEM_HOME, name);
  await mkdir(SYSTEM_HOME, { recursive: true, mode: 0o755 });
  await chmod(SYSTEM_HOME, 0o755);
  logger.info({ dataDir, folder }, 'Database placed outside of the data folder, which only root can enter');
  // A data folder that was removed and made again begins anew; what it had is kept until somebody removes it.
  const abandoned = `${folder}.${Date.now()}`;
  const moved = await rename(folder, abandoned).then(
    () => true,
    () => false,
  );
  if (moved) logger.warn({ abandoned }, 'Database of an earlier data folder of the same name set aside');
  return folder;
}

async function initdb(
  folder: string,
  password: string,
  { binaries, user, syncInitdb }: Parameters<typeof prepareCluster>[0],
): Promise<void> {
  const args = [
    ...['-D', folder, '--username', SUPERUSER, '--auth', 'scram-sha-256', '--encoding', 'UTF8'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
    ...(syncInitdb ? [] : ['--no-sync']),
  ];
  // The password goes through a pipe: the server's user may not be able to read the file that keeps it, and arguments
  // are visible to everybody.
  const script = 'initdb=$1; shift; cat | "$initdb" "$@" --pwfile=/dev/stdin';
  const child = spawn('/bin/sh', ['-c', script, 'sh', join(binaries, 'bin', 'initdb'), ...args], {
    ...asUser(user),
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const errors = text(child.stderr);
  child.stdin.end(`${password}\n`);
  const [code] = await exit;
  if (code !== 0) throw new Error(`initdb failed in ${folder}: ${(await errors).trim()}`);
}
