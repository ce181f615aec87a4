import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';

/** Held until it is released or its process ends, however that ends. */
export interface ProcessLock {
  release(): Promise<void>;
}

interface Holder {
  pid: number;
  /** Tells a process from an earlier one with the same id; null where the system does not say. */
  startedAt: string | null;
  nonce: string;
}

/** When a process started, in ticks since boot; undefined where it has ended, null where the system does not say. */
function startTimeOf(pid: number): string | null | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): the second field is the program's name in brackets, which may itself hold spaces and brackets; after it
    // come the state (Z: ended, and not yet reaped) and, as field 22, the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function isAlive({ pid, startedAt }: Holder): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = startTimeOf(pid);
  if (now === undefined) return false;
  return now === null || startedAt === null || now === startedAt;
}

async function read(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    // It appears whole, so what cannot be read was spoiled by a crash of the machine, and its holder with it.
    if (error instanceof SyntaxError) return { pid: 0, startedAt: null, nonce: '' };
    throw error;
  }
}

/** False where the name is taken: a link never replaces anything, and the file is complete before it has its name. */
async function linkTo(source: string, file: string): Promise<boolean> {
  try {
    await link(source, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

// Moved aside and looked at again before it is thrown away: meanwhile another process may have taken the lock.
async function discard(file: string, stale: Holder): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await read(aside);
  if (moved !== undefined && moved.nonce !== stale.nonce && isAlive(moved)) await linkTo(aside, file);
  await rm(aside, { force: true });
}

/**
 * Takes the lock that is this file among the processes of the machine; gives the id of the process that has it where
 * one that is alive does.
 */
export async function takeProcessLock(file: string): Promise<ProcessLock | { readonly heldBy: number }> {
  const self: Holder = { pid: process.pid, startedAt: startTimeOf(process.pid) ?? null, nonce: randomUUID() };
  const own = `${file}.${self.nonce}`;
  await writeFile(own, JSON.stringify(self), { mode: 0o600 });
  try {
    while (!(await linkTo(own, file))) {
      const holder = await read(file);
      if (holder === undefined) continue;
      if (isAlive(holder)) return { heldBy: holder.pid };
      await discard(file, holder);
    }
  } finally {
    await rm(own, { force: true });
  }
  return {
    async release() {
      if ((await read(file))?.nonce === self.nonce) await rm(file, { force: true });
    },
  };
}
