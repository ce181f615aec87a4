import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { exists } from '../images/debian.ts';
import { removeCgroups } from './cgroups.ts';
import { startMachine } from './machine.ts';
import { failureOf, RefusedError } from './refusal.ts';
import { createStateFolder } from './state-folder.ts';

const run = promisify(execFile);

const INSTALL_PACKAGES = fileURLToPath(new URL('../install-packages.sh', import.meta.url));
/** Of that script: this machine cannot have them. Any other code but 0 is a failure. */
const REFUSED = 3;
const PROBE_DEADLINE_MS = 60_000;
/** There with the module br_netfilter: rules for the packets of a bridge, which Services are made of. */
const BRIDGE_SETTINGS = '/proc/sys/net/bridge';

/**
 * Why this machine can hold no node of Kubernetes: its system, its user, or a kernel that allows no namespaces, mounts,
 * cgroups or overlays. Undefined where it can; what a node is made of is installed then. Whatever else goes wrong is
 * thrown. `folder` holds the images.
 */
export async function findObstacle(folder: string): Promise<string | undefined> {
  try {
    installPackages();
    // Those that the kernel has as modules are loaded; where it has neither, or we may not, what follows tells.
    await run('modprobe', ['--all', 'br_netfilter', 'overlay']).catch(() => undefined);
    if (!(await exists(BRIDGE_SETTINGS))) throw new RefusedError('the kernel lacks br_netfilter, or does not load it');
    await probeOverlay(folder);
    await probeMachine();
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}

function installPackages(): void {
  try {
    execFileSync(INSTALL_PACKAGES, { stdio: ['ignore', 'inherit', 'pipe'] });
  } catch (error) {
    const { status, stderr } = error as { status?: number; stderr?: Buffer };
    if (status === REFUSED) throw new RefusedError(String(stderr).trim(), { cause: error });
    throw error;
  }
}

/** Files of containers are overlays; those can lie on no overlay, as the files of a container are. */
async function probeOverlay(parent: string): Promise<void> {
  const folder = await mkdtemp(join(parent, 'overlay-'));
  const inFolder = (name: string): string => join(folder, name);
  try {
    for (const name of ['lower', 'upper', 'work', 'merged']) await mkdir(inFolder(name));
    const layers = `lowerdir=${inFolder('lower')},upperdir=${inFolder('upper')},workdir=${inFolder('work')}`;
    const mount = ['mount', '-t', 'overlay', '-o', layers, 'overlay', inFolder('merged')];
    await run('unshare', ['--mount', ...mount], { timeout: PROBE_DEADLINE_MS });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    // Of what was tried and ended, not of what is missing or took too long.
    if (typeof code !== 'number') throw error;
    const what = `no overlay can lie on ${parent}`;
    throw stderr.includes('wrong fs type') ? new RefusedError(`${what}: ${stderr.trim()}`) : failureOf(what, stderr);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function probeMachine(): Promise<void> {
  const folder = await createStateFolder();
  try {
    await probeOverlay(folder);
    const machine = await startMachine(folder);
    await machine.stop();
  } finally {
    await removeCgroups(`/${basename(folder)}`).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}
