import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { removeCgroups } from './cgroups.ts';

const PARENT = '/tmp';
const PREFIX = 'tokenkeep-e2e-';
const OWNER = 'owner';

/** Makes a folder for the state of one machine, marked as this process's. */
export async function createStateFolder(): Promise<string> {
  const folder = await mkdtemp(join(PARENT, PREFIX));
  await writeFile(join(folder, OWNER), await identityOf(process.pid));
  return folder;
}

/** With the cgroup of its machine, which must have ended. */
export async function removeStateFolder(folder: string): Promise<void> {
  await removeCgroups(`/${basename(folder)}`);
  await rm(folder, { recursive: true, force: true });
}

/**
 * Removes what runs left behind that could not clean up: folders and cgroups. Their processes and mounts ended with
 * them. Another run that is at work is left alone. Resolves with what could not be removed, and why.
 */
export async function removeLeftovers(): Promise<string[]> {
  const left: string[] = [];
  for (const { folder, isAtWork } of await stateFolders()) {
    if (isAtWork) continue;
    await removeStateFolder(folder).catch((error: Error) => left.push(`${folder}: ${error.message}`));
  }
  return left;
}

/** Whether a run but this one is at work on this machine. */
export async function othersAreAtWork(): Promise<boolean> {
  const owner = await identityOf(process.pid);
  return (await stateFolders()).some((folder) => folder.isAtWork && folder.owner !== owner);
}

async function stateFolders(): Promise<{ folder: string; owner: string; isAtWork: boolean }[]> {
  const found = [];
  for (const name of await readdir(PARENT)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(PARENT, name);
    const owner = await readFile(join(folder, OWNER), 'utf8').catch(() => undefined);
    // Somebody else's, or not marked yet.
    if (owner === undefined) continue;
    found.push({ folder, owner, isAtWork: (await identityOf(Number(owner.split(' ')[0]))) === owner });
  }
  return found;
}

/** The process and the moment when it began: ids are given again. Empty: there is none. */
async function identityOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (stat === '') return '';
  // What follows the name, which may hold anything, in its parentheses; `starttime` is field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // It has ended, and nobody has asked how.
  if (fields[0] === 'Z') return '';
  return `${pid} ${fields[19]}`;
}
