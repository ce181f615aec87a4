import type { ReactorWorkload } from '../../domain/declarations.ts';
import type { StopReason } from '../../domain/reactor-supervision.ts';
import type { InvokeRequest } from '../protocol.ts';
import type { InvocationOutcome } from '../types.ts';
import { verdictMessage } from './verdict.ts';
import { outcomeOf } from './outcome.ts';
import { Sandbox } from './sandbox.ts';
import { createSvcHandler } from './svc.ts';

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;

export interface InstanceOptions {
  workload: ReactorWorkload;
  /** A process of the code has ended in the middle of its work; another one is being started. */
  onStopped: (reason: StopReason) => void;
}

/**
 * One reactor's code, ready to run, replaced by a new process after each breach.
 *
 * Invocations beside each other (`concurrency` over 1) share a process: where one of them breaks it, the others fail
 * with it, as 'crashed'.
 */
export class Instance {
  readonly #options: InstanceOptions;
  #sandbox: Sandbox | undefined;
  /** The one that is to take its place. */
  #loading: Sandbox | undefined;
  #inFlight = 0;
  #stopped = false;
  #failedStarts = 0;
  #idle = Promise.withResolvers<void>();

  constructor(options: InstanceOptions) {
    this.#options = options;
    this.#idle.resolve();
  }

  /** Loads the code for the first time. Gives the reason why it can never run, undefined when it is ready. */
  async start(): Promise<string | undefined> {
    const { workload } = this.#options;
    const sandbox = this.#begin();
    const verdict = await sandbox.load(workload.code);
    if (verdict.type === 'loaded' && !this.#stopped) {
      this.#use(sandbox);
      return undefined;
    }
    await sandbox.kill();
    return verdictMessage(verdict) ?? 'The instance was stopped.';
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether another invocation would be taken on. */
  get isFree(): boolean {
    return (
      !this.#stopped && this.#sandbox?.alive === true && this.#inFlight < this.#options.workload.scaling.concurrency
    );
  }

  /** To be asked only while `isFree`. */
  async invoke({ args, svc, traceId, timeoutMs }: InvokeRequest): Promise<InvocationOutcome> {
    const wallMs = Math.min(timeoutMs, this.#wallMs);
    const request = JSON.stringify({ args, configuration: this.#options.workload.configuration });
    if (this.#inFlight === 0) this.#idle = Promise.withResolvers<void>();
    this.#inFlight += 1;
    try {
      const handler = svc && createSvcHandler(svc, traceId, wallMs);
      return outcomeOf(await this.#sandbox!.run(request, wallMs, handler));
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#idle.resolve();
    }
  }

  /** Takes nothing more on and settles when nothing is in flight any more. */
  async drain(): Promise<void> {
    this.#stopped = true;
    await this.#idle.promise;
  }

  /** Ends the process of the code, and with it all that is in flight. Settles when it has ended. */
  async kill(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#sandbox?.kill(), this.#loading?.kill()]);
  }

  get #wallMs(): number {
    return this.#options.workload.timeoutSeconds * 1000;
  }

  #begin(): Sandbox {
    return (this.#loading = new Sandbox(this.#options.workload.memoryBytes, this.#wallMs));
  }

  #use(sandbox: Sandbox): void {
    this.#sandbox = sandbox;
    this.#loading = undefined;
    this.#failedStarts = 0;
    void sandbox.exited.then((reason) => {
      if (this.#stopped) return;
      this.#options.onStopped(reason);
      this.#replace();
    });
  }

  #replace(): void {
    const sandbox = this.#begin();
    this.#sandbox = undefined;
    void sandbox.load(this.#options.workload.code).then((verdict) => {
      if (verdict.type === 'loaded' && !this.#stopped) return this.#use(sandbox);
      void sandbox.kill();
      if (this.#stopped) return;
      this.#options.onStopped('crashed');
      const backoff = Math.min(MIN_BACKOFF_MS * 2 ** this.#failedStarts, MAX_BACKOFF_MS);
      this.#failedStarts += 1;
      setTimeout(() => this.#stopped || this.#replace(), backoff);
    });
  }
}
