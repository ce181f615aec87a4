import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Another process that is alive holds the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

export interface FolderLock {
  release(): Promise<void>;
}

interface Holder {
  pid: number;
  /** Tells a process from an earlier one with the same id; null where the system does not say. */
  startedAt: string | null;
  nonce: string;
}

/** Ticks since boot at which a process started (proc(5), `stat`, field 22). */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, which may itself hold spaces and brackets.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function isAlive({ pid, startedAt }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = startTimeOf(pid);
  return now === null || startedAt === null || now === startedAt;
}

async function read(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    // Written in one go, so that a lock which cannot be read was cut short by a crash.
    if (error instanceof SyntaxError) return { pid: 0, startedAt: null, nonce: '' };
    throw error;
  }
}

async function create(file: string, holder: Holder): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(JSON.stringify(holder));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

// Moved aside and looked at again before it is thrown away: meanwhile another process may have taken the folder.
async function discard(file: string, stale: Holder): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await read(aside);
  if (moved && moved.nonce !== stale.nonce && isAlive(moved)) await rename(aside, file);
  else await rm(aside, { force: true });
}

/**
 * Takes a folder for this process, until it releases it or ends, however it ends. Throws FolderInUse where another
 * process has it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const file = join(folder, 'lock');
  const self: Holder = { pid: process.pid, startedAt: startTimeOf(process.pid), nonce: randomUUID() };
  while (!(await create(file, self))) {
    const holder = await read(file);
    if (holder === undefined) continue;
    if (holder.pid > 0 && isAlive(holder)) {
      throw new FolderInUse(
        `${folder} is in use by process ${holder.pid}: stop that one, or give this one another --data-dir`,
      );
    }
    await discard(file, holder);
  }
  return {
    async release() {
      if ((await read(file))?.nonce === self.nonce) await rm(file, { force: true });
    },
  };
}
