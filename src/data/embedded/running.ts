import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** A Postgres of a data folder that is running, started by whichever process. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

/** Postgres says in its data directory that it runs there: process id first, port fourth (miscadmin.h, pidfile.h). */
export async function findRunningServer(folder: string): Promise<RunningServer | undefined> {
  const file = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = file.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  // After a reboot the number may be another program's.
  const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'postgres');
  return command.trim() === 'postgres' ? { pid, port } : undefined;
}

/** The data directory of a data folder's Postgres, with links resolved; undefined where it has none yet. */
export async function findDataDirectory(dataDir: string): Promise<string | undefined> {
  return realpath(join(dataDir, 'postgres')).catch(() => undefined);
}
