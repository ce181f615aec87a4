import { readFile, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { spawnProgram } from '../program.ts';
import type { Spawned } from '../program.ts';
import { podStatus } from './kubelet-status.ts';
import type { ContainerEnd, ContainerReport } from './kubelet-status.ts';
import { mountSecret } from './mounted-secret.ts';

/** As much of a pod as a kubelet needs. */
export interface PodObject {
  metadata: {
    name: string;
    uid: string;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
  };
  spec: {
    nodeName?: string;
    volumes?: { name: string; secret?: { secretName: string } }[];
    containers: {
      image: string;
      args?: string[];
      volumeMounts?: { name: string; mountPath: string }[];
    }[];
  };
}

export interface SecretObject {
  metadata: { name: string; resourceVersion: string };
  data?: Record<string, string>;
}

/** What a pod's life needs of its node. */
export interface PodSurroundings {
  readonly folder: string;
  /** Its own, of this machine: other pods may listen on the same port. */
  readonly ip: string;
  report(status: object): Promise<void>;
  secret(name: string): Promise<SecretObject | undefined>;
  /** Whether images can be had. */
  hasImages(): boolean;
}

const LOOK_EVERY_MS = 100;
/** Much shorter than a cluster's, which begins at 10 s. */
const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 4_000;
const HEALTH_PORT = 8081;

/** One pod on a node, from its binding until its processes have ended: its container is a process of this machine. */
export class KubeletPod {
  readonly name: string;
  readonly ip: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ended: Promise<void>;
  readonly #pod: PodObject;
  readonly #around: PodSurroundings;
  readonly #startedAt = new Date().toISOString().replace(/\.\d+/, '');
  readonly #mounted = new Map<string, string>();
  #program: Spawned | undefined;
  #graceMs: number | undefined;
  #restarts = 0;
  #lastEnd: ContainerEnd | undefined;
  #told = '';

  constructor(pod: PodObject, around: PodSurroundings) {
    this.#pod = pod;
    this.#around = around;
    this.name = pod.metadata.name;
    this.ip = around.ip;
    this.labels = pod.metadata.labels ?? {};
    this.ended = this.#live();
  }

  /** Of the container's process while it runs. */
  get pid(): number | undefined {
    return this.#program?.child.pid;
  }

  /** Asks the container to end; after the grace period, ends it. */
  terminate(graceMs: number): void {
    this.#graceMs ??= graceMs;
  }

  kill(): void {
    this.#program?.child.kill('SIGKILL');
  }

  async #live(): Promise<void> {
    let backoffMs = 0;
    while (this.#graceMs === undefined) {
      if (!this.#around.hasImages()) await this.#wait({ waiting: 'ErrImagePull', message: 'the image is not there' });
      else if (!(await this.#mount())) await this.#wait({ waiting: 'ContainerCreating' });
      else {
        if (backoffMs > 0) {
          await this.#tell(false, { waiting: 'CrashLoopBackOff' });
          for (let waited = 0; waited < backoffMs && this.#graceMs === undefined; waited += LOOK_EVERY_MS) {
            await delay(LOOK_EVERY_MS);
          }
          if (this.#graceMs !== undefined) break;
        }
        await this.#run();
        this.#restarts += 1;
        // The first restart is at once, as a kubelet's is.
        backoffMs = this.#restarts === 1 ? 0 : Math.min(MIN_BACKOFF_MS * 2 ** this.#restarts, MAX_BACKOFF_MS);
      }
    }
    await rm(this.#around.folder, { recursive: true, force: true });
  }

  async #run(): Promise<void> {
    const terminationLog = join(this.#around.folder, 'termination-log');
    await writeFile(terminationLog, '');
    const program = spawnProgram([...this.#args(), `--termination-log=${terminationLog}`]);
    this.#program = program;
    let hasEnded = false;
    const ended = program.ended.then(() => (hasEnded = true));
    let killing: NodeJS.Timeout | undefined;
    while (!hasEnded) {
      if (this.#graceMs !== undefined && killing === undefined) {
        program.child.kill('SIGTERM');
        killing = setTimeout(() => program.child.kill('SIGKILL'), this.#graceMs);
      }
      await this.#mount();
      await this.#tell(await this.#isReady(), 'running');
      await Promise.race([ended, delay(LOOK_EVERY_MS)]);
    }
    clearTimeout(killing);
    this.#program = undefined;
    const { exitCode, signalCode } = program.child;
    const number = signalCode === null ? 0 : constants.signals[signalCode];
    const message = await readFile(terminationLog, 'utf8');
    this.#lastEnd = { exitCode: exitCode ?? 128 + number, message, at: new Date().toISOString().replace(/\.\d+/, '') };
  }

  /** With folders of this machine in the place of the pod's, and its address in the place of all addresses. */
  #args(): string[] {
    const [{ args = [], volumeMounts = [] }] = this.#pod.spec.containers as [PodObject['spec']['containers'][0]];
    return args.map((arg) => {
      const mount = volumeMounts.find(({ mountPath }) => arg.includes(`=${mountPath}`));
      const local = mount ? arg.replace(`=${mount.mountPath}`, `=${join(this.#around.folder, mount.name)}`) : arg;
      return local === '--host=0.0.0.0' ? `--host=${this.ip}` : local;
    });
  }

  /** False where a Secret is not there yet. One that has changed since is mounted again. */
  async #mount(): Promise<boolean> {
    for (const { name, secret } of this.#pod.spec.volumes ?? []) {
      if (secret === undefined) continue;
      const found = await this.#around.secret(secret.secretName);
      if (found === undefined && !this.#mounted.has(name)) return false;
      if (found === undefined || this.#mounted.get(name) === found.metadata.resourceVersion) continue;
      const entries = Object.entries(found.data ?? {}).map(([entry, text]) => [entry, Buffer.from(text, 'base64')]);
      await mountSecret(join(this.#around.folder, name), Object.fromEntries(entries) as Record<string, Buffer>);
      this.#mounted.set(name, found.metadata.resourceVersion);
    }
    return true;
  }

  async #isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`http://${this.ip}:${HEALTH_PORT}/readyz`, { signal: AbortSignal.timeout(1_000) });
      return answer.ok;
    } catch {
      return false;
    }
  }

  async #wait(state: Exclude<ContainerReport['state'], 'running'>): Promise<void> {
    await this.#tell(false, state);
    await delay(LOOK_EVERY_MS);
  }

  /** Only what is new. */
  async #tell(isReady: boolean, state: ContainerReport['state']): Promise<void> {
    const image = this.#pod.spec.containers[0]!.image;
    const report = { image, isReady, restarts: this.#restarts, state, lastEnd: this.#lastEnd };
    const status = podStatus(this.ip, this.#startedAt, report);
    const text = JSON.stringify(status);
    if (text === this.#told) return;
    await this.#around.report(status);
    this.#told = text;
  }
}
