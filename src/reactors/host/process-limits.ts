import { existsSync } from 'node:fs';

/** Of util-linux. With it no shell is needed, and an image of ours may have none. */
const PRLIMIT = '/usr/bin/prlimit';
const OPEN_FILES = 64;
/**
 * Of each thread, in KB; all of it counts as data. isolated-vm keeps a thread for a timer that V8 has set, dozens of
 * them after some busy seconds. Code may recurse twice as deep as in Node.
 */
const STACK_KB = 2_048;

/** What sets the limits of a process before it begins. */
export type Limiter = 'prlimit' | 'shell';

/**
 * The command, and before it what limits its memory (RLIMIT_DATA) to `dataMb`, its threads' stacks and its open files,
 * and lets it write no core file. It cannot raise them again.
 */
export function limitedCommand(
  dataMb: number,
  command: readonly string[],
  limiter: Limiter = existsSync(PRLIMIT) ? 'prlimit' : 'shell',
): [string, ...string[]] {
  if (limiter === 'shell') return ['/bin/sh', '-c', `${limitStatements(dataMb)}; exec "$@"`, 'sh', ...command];
  return [
    PRLIMIT,
    `--data=${dataMb * 2 ** 20}`,
    `--stack=${STACK_KB * 1024}`,
    '--core=0',
    `--nofile=${OPEN_FILES}`,
    '--',
    ...command,
  ];
}

/** The same limits as statements of a shell, which also takes out of the environment what a shell puts there. */
export function limitStatements(dataMb: number): string {
  return `ulimit -d ${dataMb * 1024}; ulimit -s ${STACK_KB}; ulimit -c 0; ulimit -n ${OPEN_FILES}; unset PWD`;
}
