import { readdirSync, readFileSync } from 'node:fs';

/** CPU seconds, user and system, since some moment. */
export interface CpuSeconds {
  /** The program's own process: API and operator. */
  readonly api: number;
  /** Every Postgres process. */
  readonly postgres: number;
  /** Supervisors and isolates. */
  readonly reactors: number;
  /** The benchmark itself. */
  readonly loader: number;
}

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** Of the process itself, in ticks. */
  readonly own: number;
  /** Of its children that have ended and been reaped. */
  readonly reaped: number;
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** What has been used so far; undefined where the system has no /proc. */
export function readCpu(apiPid: number): CpuSeconds | undefined {
  let processes: ProcessTimes[];
  try {
    processes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readTimes(name) : []));
  } catch {
    return undefined;
  }
  const below = descendants(processes, process.pid);
  const ofApi = descendants(processes, apiPid);
  const seconds = (group: readonly ProcessTimes[]): number =>
    group.reduce((sum, { own, reaped }) => sum + own + reaped, 0) / TICKS_PER_SECOND;
  return {
    api: (processes.find(({ pid }) => pid === apiPid)?.own ?? 0) / TICKS_PER_SECOND,
    postgres: seconds(below.filter(({ command }) => command === 'postgres')),
    reactors: seconds(ofApi),
    loader: (processes.find(({ pid }) => pid === process.pid)?.own ?? 0) / TICKS_PER_SECOND,
  };
}

export function cpuBetween(before: CpuSeconds, after: CpuSeconds): CpuSeconds {
  return combine(after, before, (a, b) => a - b);
}

export function sumCpu(parts: readonly CpuSeconds[]): CpuSeconds {
  const none = { api: 0, postgres: 0, reactors: 0, loader: 0 };
  return parts.reduce((sum, part) => combine(sum, part, (a, b) => a + b), none);
}

function combine(a: CpuSeconds, b: CpuSeconds, of: (a: number, b: number) => number): CpuSeconds {
  return {
    api: of(a.api, b.api),
    postgres: of(a.postgres, b.postgres),
    reactors: of(a.reactors, b.reactors),
    loader: of(a.loader, b.loader),
  };
}

function descendants(processes: readonly ProcessTimes[], pid: number): ProcessTimes[] {
  const children = processes.filter(({ parent }) => parent === pid);
  return children.flatMap((child) => [child, ...descendants(processes, child.pid)]);
}

/** proc(5), `stat`; nothing where the process has just ended. */
function readTimes(pid: string): ProcessTimes[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command stands in parentheses, and may hold some itself.
    const end = stat.lastIndexOf(')');
    const fields = stat
      .slice(end + 2)
      .split(' ')
      .map(Number);
    const [parent, utime, stime, cutime, cstime] = [1, 11, 12, 13, 14].map((index) => fields[index] ?? 0);
    const command = stat.slice(stat.indexOf('(') + 1, end);
    return [{ pid: Number(pid), parent: parent!, command, own: utime! + stime!, reaped: cutime! + cstime! }];
  } catch {
    return [];
  }
}
