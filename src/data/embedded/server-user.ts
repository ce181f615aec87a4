import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The account that Postgres runs under where this process is root: Postgres refuses to run as root. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);
const ACCOUNTS = ['postgres', 'nobody'];

/** Undefined where this process is not root, and Postgres runs as the same user. */
export async function findServerUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const account of ACCOUNTS) {
    const [name, , uid, gid] = lines.find(([candidate]) => candidate === account) ?? [];
    if (name !== undefined && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    `Postgres refuses to run as root, and there is no account ${ACCOUNTS.join(' or ')} to run it: ` +
      'start as another user, or give --database-url',
  );
}

/** The options under which a child process runs as `user`; none for this process's own. */
export function asUser(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid };
}

/** Whether `user` can enter a folder: every folder above it counts. */
export async function canEnter(folder: string, user: ServerUser | undefined): Promise<boolean> {
  return succeeds('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], user);
}

/** Whether a program runs and exits with 0. */
export async function succeeds(
  program: string,
  args: readonly string[],
  user: ServerUser | undefined,
): Promise<boolean> {
  try {
    await run(program, [...args], { ...asUser(user), cwd: '/', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}
