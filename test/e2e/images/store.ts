import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How long layers are kept that a later build may use again. */
const KEPT_MS = 7 * 24 * 60 * 60_000;
const STOP_DEADLINE_MS = 10_000;

/** A name of no registry: nothing that carries it is ever fetched from anywhere. */
export function localName(name: string, tag: string): string {
  return `localhost/tokenkeep-e2e/${name}:${tag}`;
}

/** What an image is laid together from. */
export interface Assembly {
  /** The image below it. Undefined: nothing. */
  readonly from?: string;
  /** A file, a folder, whose contents are meant, or a tar archive, which is unpacked. */
  readonly parts: readonly { readonly from: string; readonly to: string; readonly mode?: string }[];
  readonly entrypoint?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Images on this machine, made by buildah. Kept in the cache, apart from any that the machine has. */
export interface ImageStore {
  /** In the cache, for what images are made of. Exists. */
  readonly folder: string;
  has(image: string): Promise<boolean>;
  assemble(image: string, assembly: Assembly): Promise<void>;
  /** By a Dockerfile; does again only what follows a change. */
  build(image: string, context: string, buildArgs: Readonly<Record<string, string>>): Promise<void>;
  /** Writes it to an archive that containerd can import; what lay there is replaced. */
  archive(image: string, file: string): Promise<void>;
  /** Removes what earlier builds left that no image of a name is made of, once it is a week old. */
  removeOld(): Promise<void>;
  /** Runs a command in it, without a network; resolves with what it prints. */
  run(image: string, command: readonly string[]): Promise<string>;
  /** Ids of what images are being made in. */
  containers(): Promise<string[]>;
  /** Removes those that are not in use, with their mounts. */
  removeContainers(ids: readonly string[]): Promise<void>;
  /** Ends what is under way. */
  stop(): Promise<void>;
}

export async function openImageStore(): Promise<ImageStore> {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenkeep', 'images');
  await mkdir(folder, { recursive: true });
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];

  const underWay = new Set<ChildProcess>();

  async function buildah(...args: string[]): Promise<string> {
    // It ends with this process. Others use this machine too, and the processors are few.
    const command = ['--pdeathsig', 'TERM', 'nice', '-n', '10', 'buildah', ...storage, ...args];
    const running = run('setpriv', command, { maxBuffer: 64 * 1024 * 1024 });
    underWay.add(running.child);
    running.child.once('exit', () => underWay.delete(running.child));
    try {
      return (await running).stdout.trim();
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`buildah ${args[0]}: ${`${stdout}\n${stderr}`.trim().slice(-3_000)}`, { cause: error });
    }
  }

  async function inContainer<Result>(from: string, work: (container: string) => Promise<Result>): Promise<Result> {
    const container = await buildah('from', '--pull=never', from);
    try {
      return await work(container);
    } finally {
      await buildah('rm', container);
    }
  }

  return {
    folder,
    has: (image) =>
      buildah('inspect', '--type', 'image', '--format', '{{.FromImageID}}', image).then(
        () => true,
        () => false,
      ),
    assemble: (image, { from = 'scratch', parts, entrypoint, env = {} }) =>
      inContainer(from, async (container) => {
        for (const part of parts) {
          const mode = part.mode === undefined ? [] : ['--chmod', part.mode];
          await buildah('add', '--quiet', ...mode, container, part.from, part.to);
        }
        const settings = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
        if (entrypoint !== undefined) settings.push('--entrypoint', JSON.stringify(entrypoint), '--cmd', '');
        await buildah('config', ...settings, container);
        await buildah('commit', '--quiet', container, image);
      }),
    async build(image, context, buildArgs) {
      await buildah(
        ...['build', '--isolation', 'chroot', '--network', 'host', '--pull=never', '--layers', '--tag', image],
        ...Object.entries(buildArgs).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        context,
      );
    },
    async archive(image, file) {
      await rm(`${file}.part`, { force: true });
      await buildah('push', '--quiet', image, `docker-archive:${file}.part:${image}`);
      await rename(`${file}.part`, file);
    },
    async removeOld() {
      const dangling = await buildah('images', '--json', '--filter', 'dangling=true');
      const images = JSON.parse(dangling) as { id: string; createdatraw: string }[];
      const old = images.filter(({ createdatraw }) => Date.parse(createdatraw) < Date.now() - KEPT_MS);
      // Newest first: a layer goes after those that are built upon it. What a container holds stays.
      old.sort((one, other) => other.createdatraw.localeCompare(one.createdatraw));
      for (const { id } of old) await buildah('rmi', id).catch(() => undefined);
    },
    run: (image, command) =>
      inContainer(image, (container) => buildah('run', '--isolation', 'chroot', container, '--', ...command)),
    async containers() {
      // null: there are none.
      const listed = JSON.parse(await buildah('containers', '--json')) as { id: string }[] | null;
      return (listed ?? []).map(({ id }) => id);
    },
    async removeContainers(ids) {
      for (const id of ids) await buildah('rm', id).catch(() => undefined);
    },
    async stop() {
      const ended = [...underWay].map(async (child) => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
        await exited;
        clearTimeout(timer);
      });
      await Promise.all(ended);
    },
  };
}
