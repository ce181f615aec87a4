import { readFileSync } from 'node:fs';

/** Memory of one process in MB. */
export interface ProcessMemory {
  /** Resident now. */
  residentMb: number;
  /** The most that was ever resident. */
  peakMb: number;
  /** Of what is resident now, its own: what no other process has as well, and no file on disk. */
  ownMb: number;
}

/** Undefined for a process that has ended. proc(5), `status`. */
export function memoryOf(pid: number): ProcessMemory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const megabytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
    const [residentMb, peakMb, ownMb] = [megabytes('VmRSS'), megabytes('VmHWM'), megabytes('RssAnon')];
    return Number.isNaN(residentMb) ? undefined : { residentMb, peakMb, ownMb };
  } catch {
    return undefined;
  }
}

/** Processes that this one has started; fast enough to be asked every few milliseconds. */
export function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** Looks at everything below a process, again and again, for as long as it is asked to. */
export class MemoryWatch {
  /** Of any single process below since the last `take`. */
  #residentMb = 0;
  /** Of any single process below, ever: what the kernel noted, so that nothing between two looks is missed. */
  peakMb = 0;
  /** Of the process and all below it together, at any look: what a container of theirs is charged for. */
  ownMb = 0;
  readonly #root: number;
  readonly #timer: NodeJS.Timeout;

  constructor(root: number, everyMs = 20) {
    this.#root = root;
    this.#timer = setInterval(() => this.#look(), everyMs);
    // Nothing waits for a watch.
    this.#timer.unref();
  }

  /** The most that was resident at any look since the last time that this was asked. */
  take(): number {
    this.#look();
    const taken = this.#residentMb;
    this.#residentMb = 0;
    return taken;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const own = (memoryOf(this.#root)?.ownMb ?? 0) + this.#lookBelow(this.#root);
    this.ownMb = Math.max(this.ownMb, own);
  }

  #lookBelow(parent: number): number {
    let own = 0;
    for (const pid of childrenOf(parent)) {
      const memory = memoryOf(pid);
      if (memory) {
        this.#residentMb = Math.max(this.#residentMb, memory.residentMb);
        this.peakMb = Math.max(this.peakMb, memory.peakMb);
        own += memory.ownMb;
      }
      own += this.#lookBelow(pid);
    }
    return own;
  }
}
