import { readFileSync } from 'node:fs';
import { descendantsOf, type ProcessIdentity } from './processes.ts';

/** A running instance of a reactor: its supervisor, and under it the process that holds the code. */
export interface InstanceProcesses {
  supervisor: ProcessIdentity;
  child: ProcessIdentity;
}

/** What holds code, is about to, or checks it. */
export function supervisorsBelow(pid: number): ProcessIdentity[] {
  return descendantsOf(pid).filter((process) => /main\.[jt]s\0reactor\0/.test(commandLineOf(process)));
}

/** Every instance below a process that has its code loaded or is about to; the one that checks code is none. */
export function instancesBelow(pid: number): InstanceProcesses[] {
  return supervisorsBelow(pid).flatMap((supervisor) => {
    const below = descendantsOf(supervisor.pid).filter((child) => /child\/main\.[jt]s\0/.test(commandLineOf(child)));
    // What holds it in namespaces of its own has the same command line, and nothing but that process under it.
    const children = below.filter(({ pid }) => descendantsOf(pid).length === 0);
    return children.map((child) => ({ supervisor, child }));
  });
}

/** Arguments that each end in a NUL; nothing of a process that has ended. */
function commandLineOf({ pid }: ProcessIdentity): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
