import { execFile, spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { createComponent, type Component } from '../../support/kubernetes/component.ts';
import { makeCgroups, removeCgroups } from './cgroups.ts';
import { failureOf } from './refusal.ts';

/** Of the machine and of its bridge, which its pods are on. */
export const MACHINE_ADDRESS = '10.88.0.1';
export const POD_NETWORK = '10.88.0.0/16';
/** Of its DNS server, where NodeLocal DNSCache has it. */
export const DNS_ADDRESS = '169.254.20.10';

const START_DEADLINE_MS = 60_000;
/** What a process writes that is told to write to a fixed place: folders of this machine, over the real one's. */
const OWN_FOLDERS = { log: '/var/log', cni: '/var/lib/cni', kubelet: '/var/lib/kubelet' };
/** What kubelet demands of settings that the whole kernel has: it is shown files that say so, and changes nothing. */
const SHOWN_SETTINGS = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/**
 * Given its folder, and then what lies over what, becomes a machine: its own mounts, with the system's files beneath,
 * its own network without a way out, and as its first process one that takes over what others leave behind. Folders
 * that are not in the system's /var/lib are made in an overlay, and go with it.
 */
const BECOME_MACHINE = `set -e
mount --make-rshared /
mount -t tmpfs -o mode=755 machine /run
mkdir /run/lock /run/netns
mount -t overlay -o "lowerdir=/var/lib,upperdir=$1/changes,workdir=$1/work" machine /var/lib
shift
while [ $# -gt 0 ]; do [ -e "$2" ] || mkdir -p "$2"; mount --bind "$1" "$2"; shift 2; done
ip link set lo up
ip address add ${DNS_ADDRESS}/32 dev lo
ip link add cni0 type bridge
ip address add ${MACHINE_ADDRESS}/16 dev cni0
ip link set cni0 up
ip route add default dev cni0
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables
exec tini -s -- sleep infinity`;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A machine within this one, as far as a node of Kubernetes can tell: namespaces of processes, mounts and network.
 * When the process that made it ends, however it does, the kernel ends every process in it and with the last of them
 * its mounts and its network.
 */
export interface Machine {
  /** Of its first process, as this machine counts. For `nsenter --target`. */
  readonly pid: number;
  /** Below each cgroup controller, for all that its pods run. Begins with a slash. */
  readonly cgroup: string;
  /** A program to be started in it; its output goes to `<folder>/logs/<name>.log`. */
  component(name: string, program: string, args: readonly string[]): Component;
  /** Never rejects for a code other than 0. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** Ends with this process. */
  spawn(program: string, args: readonly string[]): ChildProcessWithoutNullStreams;
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Of this process, with what ends each. */
const started = new Map<string, () => Promise<void>>();

/**
 * `folder` holds what it writes, on a file system that overlays may lie on; its last part names the cgroup.
 *
 * @throws RefusedError where this machine allows none in it
 */
export async function startMachine(folder: string): Promise<Machine> {
  const cgroup = `/${basename(folder)}`;
  const logs = join(folder, 'logs');
  await mkdir(logs, { recursive: true });
  await makeCgroups(cgroup);
  const overlaid = await makeOverlaid(folder);

  const log = openSync(join(logs, 'machine.log'), 'a');
  const namespaces = ['--mount', '--net', '--pid', '--ipc', '--mount-proc', '--fork', '--kill-child=SIGKILL'];
  // Both ends are tied: unshare dies with this process, and all of the machine with unshare.
  const keeper = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'unshare', ...namespaces, 'sh', '-c', BECOME_MACHINE, 'sh', folder, ...overlaid],
    { env: { PATH: process.env['PATH'] }, stdio: ['ignore', log, log] },
  );
  closeSync(log);

  async function stop(): Promise<void> {
    if (!hasEnded(keeper)) {
      const ended = once(keeper, 'exit');
      keeper.kill('SIGKILL');
      await ended;
    }
    await removeCgroups(cgroup);
    started.delete(folder);
  }
  started.set(folder, stop);

  const pid = await firstProcessOf(keeper, join(logs, 'machine.log')).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const enter = ['--target', `${pid}`, '--mount', '--net', '--pid', '--ipc', '--'];

  return {
    pid,
    cgroup,
    // nsenter waits for the program that it has started; what ends nsenter must end that one.
    component: (name, program, args) =>
      createComponent(
        'nsenter',
        [...enter, 'setpriv', '--pdeathsig', 'TERM', program, ...args],
        join(logs, `${name}.log`),
      ),
    run(program, args, { input, env = {} } = {}) {
      return new Promise((resolve) => {
        const child = execFile(
          'nsenter',
          [...enter, program, ...args],
          { env: { PATH: process.env['PATH'], ...env }, maxBuffer: 256 * 1024 * 1024 },
          (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
        );
        child.stdin?.end(input);
      });
    },
    spawn: (program, args) =>
      spawn('nsenter', [...enter, program, ...args], { env: { PATH: process.env['PATH'] }, stdio: 'pipe' }),
    stop,
  };
}

/** Also one that is still being set up. */
export async function stopMachines(): Promise<void> {
  for (const stop of [...started.values()]) await stop();
}

/** Makes what lies over the system's own; resolves with pairs: what, and over what. */
async function makeOverlaid(folder: string): Promise<string[]> {
  for (const name of ['changes', 'work', 'settings', ...Object.keys(OWN_FOLDERS)]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  const pairs = Object.entries(OWN_FOLDERS).map(([name, place]) => [join(folder, name), place]);
  for (const [setting, value] of Object.entries(SHOWN_SETTINGS)) {
    const file = join(folder, 'settings', setting.replaceAll('/', '.'));
    await writeFile(file, `${value}\n`);
    pairs.push([file, `/proc/sys/${setting}`]);
  }
  return pairs.flat();
}

/** Once it is set up: its first process is `tini` then. */
async function firstProcessOf(keeper: ChildProcess, logFile: string): Promise<number> {
  const pid = await eventually(
    async () => {
      if (hasEnded(keeper)) return undefined;
      const children = await readFile(`/proc/${keeper.pid}/task/${keeper.pid}/children`, 'utf8');
      const first = Number(children.trim().split(' ')[0]);
      const name = await readFile(`/proc/${first}/comm`, 'utf8');
      if (name.trim() !== 'tini') throw new Error(`the machine did not start: it still runs ${name.trim()}`);
      return first;
    },
    { deadlineMs: START_DEADLINE_MS },
  );
  if (pid === undefined) throw failureOf('the machine did not start', await readFile(logFile, 'utf8'));
  return pid;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
