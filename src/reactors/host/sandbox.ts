import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { INVOCATION_LIMITS, LOAD_TIMEOUT_MS, LOG_LIMITS } from '../types.ts';
import type { CodeFault } from '../types.ts';
import { parseFromChild } from '../protocol.ts';
import type { StopReason } from '../../domain/reactor-supervision.ts';
import type { ChildLimits, FromChild, Settled, ToChild } from '../protocol.ts';
import { planMemory, spawnChild } from './child-process.ts';
import { guestProgram } from './guest-program.ts';
import type { HostCalls } from './host-calls.ts';
import { readLines } from './lines.ts';
import { Pulse } from './pulse.ts';

/** What became of loading the code. */
export type LoadVerdict =
  | { type: 'loaded' }
  | { type: 'refused'; fault: CodeFault; line?: number; module?: string }
  | { type: 'breach'; reason: StopReason };

/** One run of the code. */
export interface SandboxRun {
  /** JSON text of `{args, configuration}`. */
  request: string;
  wallMs: number;
  /** Whether the code is given `svc`. */
  svc: boolean;
  calls: HostCalls;
  log: PrintedLines;
}

/** Takes what the code prints, as it comes: not free of plaintext, nor trusted to keep to its bounds. */
export interface PrintedLines {
  /** False for a line over the bounds, which the process holds back as long as the guest has not taken it over. */
  take(level: string, text: string): boolean;
  omit(lines: number): void;
}

interface Running extends SandboxRun {
  settle: (settled: Settled) => void;
  /** By the names that the guest gives them. */
  outstanding: Map<string, OutstandingCall>;
}

interface OutstandingCall {
  sentBytes: number;
  abort: AbortController;
}

/** A result of the largest size, escaped once more by the line's own JSON, fits twice over. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const STDERR_BYTES = 8192;
/** Time for the process to start, beside that for the code. */
const SPAWN_TIMEOUT_MS = 10_000;
/**
 * For a run to be closed at the end of its wall time, in ms: the most that code in the middle of a stretch has left. Its
 * process is ended then, and with it the runs beside it.
 */
const STOP_MS = 500;
/** Between two looks at whether the process listens, while something runs. */
const PULSE_MS = 1_000;

/**
 * One child process with the code of one reactor. Nothing that it says is believed beyond its form, and it lives until
 * its first breach: of a budget, of memory or of the protocol.
 */
export class Sandbox {
  /** Settles with the reason when the process has ended. */
  readonly exited: Promise<StopReason>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #limits: ChildLimits;
  readonly #runs = new Map<number, Running>();
  readonly #pulse: Pulse;
  readonly #load = Promise.withResolvers<LoadVerdict>();
  /** Of payloads whose calls are not answered, and of answers that the process has not taken yet. */
  #sentBytes = 0;
  #answerBytes = 0;
  #lastId = 0;
  #stderr = '';
  #ended = false;
  #worn = false;
  #breach: StopReason | undefined;

  constructor(memoryBytes: number, wallMs: number) {
    const plan = planMemory(memoryBytes);
    const { sliceMs, cpuMs, payloadBytes: resultBytes, timers, calls, callBytes } = INVOCATION_LIMITS;
    this.#limits = {
      heapMb: plan.heapMb,
      loadMs: LOAD_TIMEOUT_MS,
      sliceMs: Math.min(sliceMs, wallMs),
      cpuMs: Math.min(cpuMs, wallMs),
      resultBytes,
      timers,
      calls,
      callBytes,
      log: LOG_LIMITS,
    };
    this.#child = spawnChild(plan);
    this.#pulse = new Pulse({
      everyMs: PULSE_MS,
      toleratedBeats: Math.ceil((this.#limits.sliceMs + PULSE_MS) / PULSE_MS),
      ping: () => this.#send({ type: 'ping' }),
      onDeaf: () => this.#endDeaf(),
    });
    const { promise, resolve } = Promise.withResolvers<StopReason>();
    this.exited = promise;
    this.#child.once('close', () => resolve(this.#end()));
    this.#child.once('error', () => resolve(this.#end()));
    // The child may be gone while we write; its end is told by 'close'.
    this.#child.stdin.on('error', () => undefined);
    // V8's last words tell out-of-memory from other ends. They are never logged: they may quote the heap.
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-STDERR_BYTES);
    });
    readLines(
      this.#child.stdout,
      MAX_LINE_BYTES,
      (line) => this.#receive(line),
      () => void this.kill(),
    );
  }

  /** False from the moment that it is doomed, before its process has ended. */
  get alive(): boolean {
    return !this.#ended && !this.#child.killed;
  }

  /** It has no memory for another run; those under way may end. */
  get isWorn(): boolean {
    return this.#worn;
  }

  /** Compiles the code and runs its top level. To be called once, first. */
  async load(code: string, loadMs = LOAD_TIMEOUT_MS): Promise<LoadVerdict> {
    this.#send({ type: 'load', guest: guestProgram(), code, limits: { ...this.#limits, loadMs } });
    const timer = setTimeout(() => {
      this.#load.resolve({ type: 'refused', fault: 'timed-out' });
      void this.kill();
    }, loadMs + SPAWN_TIMEOUT_MS);
    const verdict = await this.#load.promise;
    clearTimeout(timer);
    return verdict;
  }

  /** Runs the code once. A breach ends the process; a run that only waits when its time is over is closed alone. */
  async run(run: SandboxRun): Promise<Settled> {
    const id = (this.#lastId += 1);
    const { promise, resolve } = Promise.withResolvers<Settled>();
    if (!this.alive) return { type: 'breach', reason: 'crashed' };
    this.#runs.set(id, { ...run, settle: resolve, outstanding: new Map() });
    this.#pulse.start();
    let timer = setTimeout(() => {
      this.#send({ type: 'stop', id });
      timer = setTimeout(() => resolve({ type: 'breach', reason: 'timed-out' }), STOP_MS);
    }, run.wallMs);
    this.#send({ type: 'invoke', id, request: run.request, svc: run.svc });
    const settled = await promise;
    clearTimeout(timer);
    this.#letGo(id);
    if (settled.type === 'breach') {
      this.#breach ??= settled.reason;
      void this.kill();
    }
    return settled;
  }

  /** Settles when the process has ended: a signal is only on its way when it has been sent. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #send(message: ToChild, taken?: () => void): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`, taken);
  }

  #receive(line: string): void {
    const message = parseFromChild(line);
    if (message === undefined) void this.kill();
    else if (message.type === 'loaded' || message.type === 'refused') this.#load.resolve(message);
    else if (message.type === 'call') this.#call(message);
    else if (message.type === 'cancel') this.#forget(message.id, message.call);
    else if (message.type === 'log') {
      if (this.#runs.get(message.id)?.log.take(message.level, message.text) === false) void this.kill();
    } else if (message.type === 'omitted') this.#runs.get(message.id)?.log.omit(message.lines);
    else if (message.type === 'worn') this.#worn = true;
    else if (message.type === 'pong') this.#pulse.heard();
    else {
      this.#runs.get(message.id)?.settle(message);
      // At once: what the process sends next may use the room.
      this.#letGo(message.id);
    }
  }

  #letGo(id: number): void {
    for (const call of this.#runs.get(id)?.outstanding.keys() ?? []) this.#forget(id, call);
    this.#runs.delete(id);
    if (this.#runs.size === 0) this.#pulse.stop();
  }

  /**
   * The isolate has a thread of its own: a process that does not listen computes for one of the runs, which cannot be cut
   * short otherwise. Which of them it is, it does not say.
   */
  #endDeaf(): void {
    for (const { settle } of this.#runs.values()) settle({ type: 'breach', reason: 'timed-out' });
  }

  #forget(id: number, call: string): void {
    const outstanding = this.#runs.get(id)?.outstanding;
    const forgotten = outstanding?.get(call);
    if (!forgotten) return;
    outstanding!.delete(call);
    this.#sentBytes -= forgotten.sentBytes;
    forgotten.abort.abort();
  }

  #call({ id, call, operation, payload }: Extract<FromChild, { type: 'call' }>): void {
    const run = this.#runs.get(id);
    if (!run) return;
    const abort = new AbortController();
    const sentBytes = Buffer.byteLength(payload);
    const { outstanding } = run;
    // The process bounds it too, for as long as the guest has not taken it over.
    const isAllowed = !outstanding.has(call) && outstanding.size < INVOCATION_LIMITS.calls;
    if (!isAllowed || this.#sentBytes + sentBytes > INVOCATION_LIMITS.callBytes) return void this.kill();
    outstanding.set(call, { sentBytes, abort });
    this.#sentBytes += sentBytes;
    let held = 0;
    const hold = (bytes: number): boolean => {
      if (this.#answerBytes + bytes > INVOCATION_LIMITS.callBytes) return false;
      this.#answerBytes += bytes;
      held += bytes;
      return true;
    };
    const taken = (): void => void (this.#answerBytes -= held);
    run.calls(operation, payload, { signal: abort.signal, hold }).then(
      (answer) => {
        if (outstanding.get(call)?.abort !== abort) return taken();
        this.#forget(id, call);
        this.#send({ type: 'answer', id, call, payload: answer }, taken);
      },
      () => void this.kill(),
    );
  }

  #end(): StopReason {
    this.#ended = true;
    this.#pulse.stop();
    // V8 and the allocator say so in words only; either reading answers 502.
    const reason = /out of memory|allocation failed|bad_alloc/i.test(this.#stderr) ? 'out-of-memory' : 'crashed';
    this.#load.resolve({ type: 'breach', reason });
    for (const { settle } of this.#runs.values()) settle({ type: 'breach', reason: this.#breach ? 'crashed' : reason });
    return this.#breach ?? reason;
  }
}
