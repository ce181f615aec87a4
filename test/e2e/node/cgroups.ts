import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { RefusedError } from './refusal.ts';

const CGROUPS = '/sys/fs/cgroup';
/** What kubelet demands of its cgroup in the second version, of those that the kernel has. */
const DEMANDED = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'];
/** EBUSY: this is a container, whose processes are in the root of what it sees. ENOENT: nothing is mounted there. */
const REFUSALS = new Set(['EACCES', 'EBUSY', 'ENOENT', 'EOPNOTSUPP', 'EPERM', 'EROFS']);

/**
 * Makes a cgroup below each controller. Its name begins with a slash.
 *
 * @throws RefusedError where this machine allows none
 */
export async function makeCgroups(cgroup: string): Promise<void> {
  try {
    const hierarchies = await controllers();
    if (hierarchies.length === 0) throw new RefusedError(`no cgroups are mounted at ${CGROUPS}`);
    for (const controller of hierarchies) {
      if (controller === '') await handDown();
      await mkdir(join(CGROUPS, controller, cgroup));
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !REFUSALS.has(code)) throw error;
    throw new RefusedError(`no cgroup can be made: ${message}`, { cause: error });
  }
}

/** Removes them, once all that ran in them has ended. */
export async function removeCgroups(cgroup: string): Promise<void> {
  for (const controller of await controllers()) {
    await eventually(() => removeTree(join(CGROUPS, controller, cgroup)), { deadlineMs: 20_000, everyMs: 50 });
  }
}

async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Folders of the hierarchies: one for each controller in the first version of cgroups, the root in the second. */
async function controllers(): Promise<string[]> {
  const entries = await readdir(CGROUPS, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'cgroup.controllers')) return [''];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** In the second version a cgroup has the controllers that the one above it hands down; systemd does so with a few. */
async function handDown(): Promise<void> {
  const listOf = async (file: string): Promise<string[]> =>
    (await readFile(join(CGROUPS, file), 'utf8')).trim().split(/\s+/);
  const present = await listOf('cgroup.controllers');
  const handedDown = await listOf('cgroup.subtree_control');
  const missing = DEMANDED.filter((name) => present.includes(name) && !handedDown.includes(name));
  if (missing.length === 0) return;
  await writeFile(join(CGROUPS, 'cgroup.subtree_control'), missing.map((name) => `+${name}`).join(' '));
}
