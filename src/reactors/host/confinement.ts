import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';

/**
 * What the system itself keeps from the process of the code, whatever runs in it.
 * - `namespaces`: no network, no other process, no file but Node's, its libraries' and ours, read only, no privileges.
 * - `none`: the system refuses that. Node's own permissions are left, which bound neither network nor signals, and
 *   nothing against one that has broken out of V8 but what the user of the process may.
 */
export type Confinement = 'namespaces' | 'none';

/** Where a dynamically linked program finds its libraries. */
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64'];
/** Ends with the one that started it, also when that is killed. */
const UNSHARE =
  'exec unshare --user --map-root-user --mount --net --pid --ipc --fork --kill-child -- /bin/sh -c "$0" sh "$@"';
/**
 * Given paths, `--` and a command: makes a tree of those paths alone, read only, and runs the command in it. It lies
 * over /sys, which holds nothing that anybody needs here. In the second user namespace the command is nobody; having
 * its own root, it may make no third one.
 */
const CONFINE = `set -e
mount -t tmpfs -o mode=755,size=1m tokenkeep /sys
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "/sys$1"; else mkdir -p "/sys\${1%/*}"; : > "/sys$1"; fi
  mount --bind -o ro,nosuid,nodev "$1" "/sys$1"
  shift
done
shift
mount -o remount,ro /sys
unset PWD OLDPWD
exec unshare --user --root=/sys --wd=/ -- "$@"`;
const PROBE = '/bin/true';
const PROBE_TIMEOUT_MS = 5_000;

let found: Confinement | undefined;

/** Tried once in a process, which takes some 20 ms: a system gives its reasons for a refusal in too many ways. */
export function confinement(): Confinement {
  return (found ??= librariesAreKnown() && probe() ? 'namespaces' : 'none');
}

/**
 * Arguments of /bin/sh that run `limits`, statements of a shell, and then a command that sees `readable` and no other
 * file, nor anything else of the machine.
 */
export function confinedShell(limits: string, readable: readonly string[], command: readonly string[]): string[] {
  const paths = [...LIBRARIES, ...readable].filter((path) => existsSync(path));
  return ['-c', `${limits}; ${UNSHARE}`, CONFINE, ...paths, '--', ...command];
}

function probe(): boolean {
  const { status } = spawnSync('/bin/sh', confinedShell(':', [PROBE], [PROBE]), {
    env: {},
    cwd: '/',
    stdio: 'ignore',
    timeout: PROBE_TIMEOUT_MS,
  });
  return status === 0;
}

/** A Node whose libraries lie elsewhere would not start. */
function librariesAreKnown(): boolean {
  try {
    const known = LIBRARIES.filter((path) => existsSync(path)).map((path) => `${realpathSync(path)}/`);
    const mapped = readFileSync('/proc/self/maps', 'utf8').matchAll(/(?<=\s)\/\S*\.so(?:\.\S+)?$/gm);
    return [...mapped].every(([path]) => known.some((folder) => path.startsWith(folder)));
  } catch {
    return false;
  }
}
