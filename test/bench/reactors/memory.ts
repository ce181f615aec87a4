import { readFileSync } from 'node:fs';
import { descendantsOf } from '../../support/processes.ts';

/** Of one process, in bytes; undefined where the system has no /proc. */
export interface Resident {
  readonly pid: number;
  readonly command: string;
  /** All that it has in memory. */
  readonly rss: number;
  /** Of that, its share: what it has in common with others, such as the program's own text, divided by their number. */
  readonly pss: number;
  /** What it alone has: freed by its end. */
  readonly own: number;
}

/** proc(5), `smaps_rollup`. */
export function residentOf(pid: number, command = ''): Resident {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  return { pid, command, rss: of('Rss'), pss: of('Pss'), own: of('Private_Clean') + of('Private_Dirty') };
}

/** Of everything below a process. */
export function residentBelow(pid: number): Resident[] {
  return descendantsOf(pid).map(({ pid: below, command }) => residentOf(below, command));
}

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
