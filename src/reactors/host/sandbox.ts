import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { LOAD_TIMEOUT_MS, INVOCATION_LIMITS } from '../types.ts';
import type { CodeFault } from '../types.ts';
import { parseFromChild } from '../protocol.ts';
import type { StopReason } from '../../domain/reactor-supervision.ts';
import type { ChildLimits, FromChild, Settled, ToChild } from '../protocol.ts';
import { planMemory, spawnChild } from './child-process.ts';
import { guestProgram } from './guest-program.ts';
import { readLines } from './lines.ts';

/** What became of loading the code. */
export type LoadVerdict =
  | { type: 'loaded' }
  | { type: 'refused'; fault: CodeFault; line?: number; module?: string }
  | { type: 'breach'; reason: StopReason };

/** Answers a call to `svc` with the JSON text that the guest's client takes. */
export type SvcHandler = (operation: string, payload: string) => Promise<string>;

/** A result of the largest size, escaped once more by the line's own JSON, fits twice over. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const STDERR_BYTES = 8192;
/** Time for the process to start, beside that for the code. */
const SPAWN_TIMEOUT_MS = 10_000;

/**
 * One child process with the code of one reactor. Nothing that it says is believed beyond its form, and it lives until
 * its first breach: of a budget, of memory or of the protocol.
 */
export class Sandbox {
  /** Settles with the reason when the process has ended. */
  readonly exited: Promise<StopReason>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #limits: ChildLimits;
  readonly #runs = new Map<number, { settle: (settled: Settled) => void; svc: SvcHandler | undefined }>();
  readonly #load = Promise.withResolvers<LoadVerdict>();
  #lastId = 0;
  #stderr = '';
  #ended = false;
  #breach: StopReason | undefined;

  constructor(memoryBytes: number, wallMs: number) {
    const plan = planMemory(memoryBytes);
    const { sliceMs, cpuMs, payloadBytes: resultBytes, timers, svcCalls } = INVOCATION_LIMITS;
    this.#limits = {
      heapMb: plan.heapMb,
      loadMs: LOAD_TIMEOUT_MS,
      sliceMs: Math.min(sliceMs, wallMs),
      cpuMs: Math.min(cpuMs, wallMs),
      resultBytes,
      timers,
      svcCalls,
    };
    this.#child = spawnChild(plan);
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

  /** Runs the code once; `request` is the JSON text of `{args, configuration}`. A breach ends the process. */
  async run(request: string, wallMs: number, svc: SvcHandler | undefined): Promise<Settled> {
    const id = (this.#lastId += 1);
    const { promise, resolve } = Promise.withResolvers<Settled>();
    if (!this.alive) return { type: 'breach', reason: 'crashed' };
    this.#runs.set(id, { settle: resolve, svc });
    const timer = setTimeout(() => resolve({ type: 'breach', reason: 'timed-out' }), wallMs);
    this.#send({ type: 'invoke', id, request, svc: svc !== undefined });
    const settled = await promise;
    clearTimeout(timer);
    this.#runs.delete(id);
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

  #send(message: ToChild): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #receive(line: string): void {
    const message = parseFromChild(line);
    if (message === undefined) void this.kill();
    else if (message.type === 'loaded' || message.type === 'refused') this.#load.resolve(message);
    else if (message.type === 'svc') this.#callSvc(message);
    else this.#runs.get(message.id)?.settle(message);
  }

  #callSvc({ id, call, operation, payload }: Extract<FromChild, { type: 'svc' }>): void {
    const run = this.#runs.get(id);
    if (!run) return;
    if (!run.svc) return void this.kill();
    run.svc(operation, payload).then(
      (answer) => {
        if (this.#runs.get(id) === run) this.#send({ type: 'answer', id, call, payload: answer });
      },
      () => void this.kill(),
    );
  }

  #end(): StopReason {
    this.#ended = true;
    // V8 and the allocator say so in words only; either reading answers 502.
    const reason = /out of memory|allocation failed|bad_alloc/i.test(this.#stderr) ? 'out-of-memory' : 'crashed';
    this.#load.resolve({ type: 'breach', reason });
    for (const { settle } of this.#runs.values()) settle({ type: 'breach', reason: this.#breach ? 'crashed' : reason });
    return this.#breach ?? reason;
  }
}
