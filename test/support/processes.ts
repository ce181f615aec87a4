import { readdirSync, readFileSync } from 'node:fs';

/** A process that is told apart from a later one with the same id. */
export interface ProcessIdentity {
  pid: number;
  command: string;
  /** Ticks since boot. */
  startedAt: string;
}

interface ProcessEntry extends ProcessIdentity {
  parent: number;
  state: string;
}

/** Everything that descends from a process at this moment. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readEntry(Number(name)) ?? []) : []));
  const below = (parent: number): ProcessEntry[] =>
    all.filter((entry) => entry.parent === parent).flatMap((entry) => [entry, ...below(entry.pid)]);
  return below(pid);
}

/** Whether that very process still runs; one that nobody has reaped yet does not. */
export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  const now = readEntry(pid);
  return now !== undefined && now.startedAt === startedAt && now.state !== 'Z';
}

/** proc(5), `stat`. */
function readEntry(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const command = stat.slice(stat.indexOf('(') + 1, end);
    return { pid, command, state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
