import type { ReactorInstance, ReactorWorkload } from '../../domain/declarations.ts';
import { REACTOR_LIMITS } from '../../domain/reactors.ts';
import { describeStops, StopWindow } from '../../domain/stop-window.ts';
import type { ReactorLog, StopReason } from '../../domain/reactor-supervision.ts';
import type { RuntimeState } from './types.ts';
import { StartError, SupervisorProcess } from './supervisor-process.ts';
import type { SupervisorCommand } from './supervisor-process.ts';

export interface FleetOptions {
  command: SupervisorCommand;
  /** How long instances of the revision before stay, for requests that were made for it, in ms. */
  overlapMs: number;
  changed: (state: RuntimeState) => void;
  /** The code of an instance has printed a line. */
  onLog?: (line: ReactorLog) => void;
}

interface Member {
  process: SupervisorProcess;
  revision: string;
  instance: ReactorInstance | undefined;
}

const MIN_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 30_000;
/** An instance that lived this long was no failed start. */
const STABLE_MS = 10_000;
const KILL_GRACE_MS = 2_000;
const DRAIN_GRACE_MS = 5_000;

/** The instances of one reactor: brought to the desired revision and number, step by step, as events come in. */
export class ProcessFleet {
  readonly #options: FleetOptions;
  readonly #stops = new StopWindow();
  #workload: ReactorWorkload;
  #replicas = 0;
  #members: Member[] = [];
  readonly #leaving = new Set<Member>();
  #failedStarts = 0;
  #startFailure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #overlap: NodeJS.Timeout | undefined;
  #notice: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(workload: ReactorWorkload, options: FleetOptions) {
    this.#workload = workload;
    this.#options = options;
  }

  apply(workload: ReactorWorkload, replicas: number): void {
    if (workload.revision !== this.#workload.revision) this.#resetFailures();
    this.#workload = workload;
    this.#replicas = replicas;
    this.#step();
  }

  state(): RuntimeState {
    const { tenantId, reactorId, revision } = this.#workload;
    return {
      tenantId,
      reactorId,
      revision,
      ready: this.#members.flatMap(({ instance }) => instance ?? []),
      desired: this.#replicas,
      ...this.#failure(),
    };
  }

  #failure(): Pick<RuntimeState, 'failure' | 'failureReason'> {
    if (this.#startFailure !== undefined) return { failure: this.#startFailure };
    const stopped = this.#stops.reason(Date.now());
    return stopped === undefined ? {} : { failure: describeStops(stopped), failureReason: 'Degraded' };
  }

  /** Lets what runs come to its end. Settles when all processes are gone. */
  async drain(): Promise<void> {
    this.#end();
    for (const member of [...this.#members]) this.#leave(member);
    this.#options.changed(this.state());
    await Promise.all([...this.#leaving].map(({ process }) => process.exited));
  }

  /** Settles when all processes are gone, whatever ran in them. */
  async kill(): Promise<void> {
    this.#end();
    const all = [...this.#members, ...this.#leaving];
    this.#members = [];
    await Promise.all(all.map(({ process }) => process.kill(KILL_GRACE_MS)));
  }

  #end(): void {
    this.#ended = true;
    this.#replicas = 0;
    for (const timer of [this.#retry, this.#overlap, this.#notice]) clearTimeout(timer);
  }

  #step(): void {
    if (this.#ended) return;
    const { revision } = this.#workload;
    const current = this.#members.filter((member) => member.revision === revision);
    for (const member of current.slice(this.#replicas)) this.#leave(member);
    if (this.#retry === undefined) {
      for (let missing = this.#replicas - current.length; missing > 0; missing -= 1) this.#start();
    }
    const ready = current.filter(({ instance }) => instance !== undefined).length;
    if (ready >= this.#replicas) this.#retireOthers();
    this.#options.changed(this.state());
  }

  #start(): void {
    const { revision } = this.#workload;
    const started = Date.now();
    const { command, onLog } = this.#options;
    const onStopped = (reason: StopReason): void => {
      this.#stops.add(reason, Date.now());
      this.#notifyWhenWindowPasses();
      if (!this.#ended) this.#options.changed(this.state());
    };
    const process = new SupervisorProcess(command, this.#workload, { onStopped, ...(onLog ? { onLog } : {}) });
    const member: Member = { process, revision, instance: undefined };
    this.#members.push(member);
    process.ready.then(
      (instance) => {
        member.instance = instance;
        if (revision === this.#workload.revision) this.#startFailure = undefined;
        this.#step();
      },
      (error: unknown) => {
        if (error instanceof StartError && revision === this.#workload.revision) this.#startFailure = error.message;
      },
    );
    void process.exited.then(() => this.#onExit(member, started));
  }

  #onExit(member: Member, started: number): void {
    this.#leaving.delete(member);
    if (this.#ended || !this.#members.includes(member)) return;
    this.#members = this.#members.filter((other) => other !== member);
    if (member.revision === this.#workload.revision) {
      if (Date.now() - started > STABLE_MS) this.#failedStarts = 0;
      const backoff = Math.min(MIN_BACKOFF_MS * 2 ** this.#failedStarts, MAX_BACKOFF_MS);
      this.#failedStarts += 1;
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#step();
      }, backoff);
    }
    this.#step();
  }

  /** Not at once: a request may be under way that was made for the revision before. */
  #retireOthers(): void {
    const isOther = ({ revision }: Member) => revision !== this.#workload.revision;
    if (this.#overlap !== undefined || !this.#members.some(isOther)) return;
    this.#overlap = setTimeout(() => {
      this.#overlap = undefined;
      for (const member of this.#members.filter(isOther)) this.#leave(member);
      if (!this.#ended) this.#options.changed(this.state());
    }, this.#options.overlapMs);
  }

  #leave(member: Member): void {
    this.#members = this.#members.filter((other) => other !== member);
    this.#leaving.add(member);
    member.process.drain();
    // What nobody waits for may run for longer than the workload says.
    const drainSeconds = Math.max(this.#workload.timeoutSeconds, REACTOR_LIMITS.asynchronousTimeoutSeconds);
    const timer = setTimeout(() => void member.process.kill(KILL_GRACE_MS), drainSeconds * 1000 + DRAIN_GRACE_MS);
    void member.process.exited.then(() => {
      clearTimeout(timer);
      this.#leaving.delete(member);
    });
  }

  #resetFailures(): void {
    this.#failedStarts = 0;
    this.#startFailure = undefined;
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #notifyWhenWindowPasses(): void {
    // A fleet that has ended must not speak over one that came after it.
    if (this.#ended) return;
    clearTimeout(this.#notice);
    const passes = this.#stops.expiresIn(Date.now()) + 1;
    this.#notice = setTimeout(() => this.#options.changed(this.state()), passes).unref();
  }
}
