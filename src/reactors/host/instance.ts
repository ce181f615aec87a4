import type { ReactorWorkload } from '../../domain/declarations.ts';
import type { ReactorLog, StopReason } from '../../domain/reactor-supervision.ts';
import { REACTOR_LIMITS } from '../../domain/reactors.ts';
import type { InvokeRequest } from '../protocol.ts';
import type { InvocationOutcome } from '../types.ts';
import { verdictMessage } from './verdict.ts';
import { outcomeOf } from './outcome.ts';
import { Sandbox } from './sandbox.ts';
import { createHostCalls } from './host-calls.ts';
import { createFetchHandler } from './fetch.ts';
import type { FetchNetwork } from './fetch.ts';
import { RunLog } from './logs.ts';
import { createSvcHandler } from './svc.ts';
import type { Authorities } from './svc.ts';

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
/**
 * Invocations, times `concurrency`, after which it waits until none runs: only then can the process be asked whether it
 * has memory left, which traffic that overlaps all the time would put off for ever.
 */
const REST_AFTER = 50;
/** Of its wall time, what code has left when a call of `svc` or `fetch` fails because nobody answers: it can say so. */
const REACT_MS = 250;
const MAX_REACT_SHARE = 0.25;
/** Of the arguments of what runs, with the configuration, as JSON text: beyond it, whatever comes goes elsewhere. */
const MAX_REQUEST_CHARACTERS = 16 * 1024 * 1024;

export interface InstanceOptions {
  workload: ReactorWorkload;
  /** A process of the code has ended in the middle of its work; another one is being started. */
  onStopped: (reason: StopReason) => void;
  /** The code has printed a line. */
  onLog?: (line: ReactorLog) => void;
  /** Whom `svc` believes to be the API; absent on one machine. */
  authorities?: Authorities | undefined;
  /** Where names lead in place of the machine's network, for tests. */
  network?: FetchNetwork;
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
  #retired: Sandbox | undefined;
  #inFlight = 0;
  /** Begun since none was running. */
  #begun = 0;
  #requestCharacters = 0;
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
    const { scaling } = this.#options.workload;
    const sandbox = this.#sandbox;
    if (this.#stopped || sandbox?.alive !== true || sandbox.isWorn) return false;
    if (this.#inFlight > 0 && this.#begun >= REST_AFTER * scaling.concurrency) return false;
    return this.#inFlight < scaling.concurrency && this.#requestCharacters < MAX_REQUEST_CHARACTERS;
  }

  /** To be asked only while `isFree`. */
  async invoke({ args, svc, traceId, timeoutMs, asynchronous }: InvokeRequest): Promise<InvocationOutcome> {
    const longestMs = asynchronous ? REACTOR_LIMITS.asynchronousTimeoutSeconds * 1000 : this.#wallMs;
    const wallMs = Math.min(timeoutMs, longestMs);
    const request = JSON.stringify({ args, configuration: this.#options.workload.configuration });
    if (this.#inFlight === 0) {
      this.#idle = Promise.withResolvers<void>();
      this.#begun = 0;
    }
    this.#inFlight += 1;
    this.#begun += 1;
    this.#requestCharacters += request.length;
    try {
      const lastAnswer = performance.now() + wallMs - Math.min(REACT_MS, wallMs * MAX_REACT_SHARE);
      const leftMs = (): number => Math.max(Math.floor(lastAnswer - performance.now()), 1);
      const calls = createHostCalls({
        svc: svc && createSvcHandler(svc, traceId, leftMs, this.#options.authorities),
        fetch: createFetchHandler({
          ...{ policy: this.#options.workload.egress, leftMs },
          ...(this.#options.network ? { network: this.#options.network } : {}),
        }),
      });
      const { tenantId, reactorId, revision } = this.#options.workload;
      const log = new RunLog(request, (level, message) =>
        this.#options.onLog?.({ level, message, traceId, tenantId, reactorId, revision }),
      );
      const settled = await this.#sandbox!.run({
        request,
        wallMs,
        svc: svc !== undefined,
        calls: log.watch(calls),
        log,
      });
      log.end(settled.type !== 'breach');
      return outcomeOf(settled);
    } finally {
      this.#inFlight -= 1;
      this.#requestCharacters -= request.length;
      if (this.#inFlight === 0) {
        if (this.#sandbox?.isWorn) this.#retire(this.#sandbox);
        this.#idle.resolve();
      }
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
      if (this.#retired !== sandbox) this.#options.onStopped(reason);
      this.#replace();
    });
  }

  /** Nothing has failed: the process has become too full for the next invocation. */
  #retire(worn: Sandbox): void {
    if (!worn.alive) return;
    this.#retired = worn;
    void worn.kill();
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
