import { randomUUID } from 'node:crypto';
import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { systemTimers } from '../timers.ts';
import type { Timers } from '../timers.ts';
import { firstLease, givenUp, holderOf, leasePath, renewed, takenOver } from './lease.ts';
import type { Lease } from './lease.ts';

/** Lets one process of several lead: the one that holds a Lease of coordination.k8s.io. */
export interface LeaseElector {
  /** Begins to ask for the lease. */
  start(): void;
  /** Resolves once this process leads. */
  readonly leading: Promise<void>;
  /**
   * Resolves with the reason once this process led and does so no more. The process has to end: another one leads, or
   * soon will. Never after a stop.
   */
  readonly lost: Promise<Error>;
  /**
   * Gives the lease up, where it is still held, so that another process need not wait for it to run out. To be called
   * once nothing is done any more that only the leader may do. Never rejects.
   */
  stop(): Promise<void>;
}

export interface LeaseElectorOptions {
  client: Pick<KubernetesClient, 'read' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  /** Of this process, and of no other: see `leaseIdentity`. */
  identity: string;
  logger: Logger;
  /** How long others leave a lease alone that its holder does not renew. Default 15,000. */
  leaseMs?: number;
  /** For how long a leader goes on without having renewed. Less than `leaseMs`. Default 10,000. */
  renewDeadlineMs?: number;
  /** Between two attempts. Default 2,000. */
  retryMs?: number;
  /** `now` is for people to read only: no decision rests on it. */
  clock?: Timers;
  /** In ms; what ages are measured by. */
  monotonicNow?: () => number;
  /** From 0 to below 1. */
  random?: () => number;
  /** Told whether this process leads, at first and at each change. */
  onChange?: (isLeading: boolean) => void;
}

/** A name for this run of a pod: a container that starts again in it is another candidate. */
export function leaseIdentity(podName: string): string {
  return `${podName}_${randomUUID()}`;
}

/** As in client-go: candidates wait up to this much longer, as a share, so that they do not ask in step. */
const JITTER = 1.2;

/** What an attempt came to: the lease as we hold it, or who else does. */
type Attempt = { lease: Lease } | { holder: string | undefined };

/**
 * A candidate counts a lease's age from when it saw it change, on a clock of its own, and never reads the times in it:
 * machines whose clocks differ agree. It takes over with a write that is conditional on what it saw. A leader ends
 * before anyone else could have begun, however its requests fare.
 */
export function createLeaseElector(options: LeaseElectorOptions): LeaseElector {
  const { client, namespace, name, identity, logger, onChange } = options;
  const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
  const { clock = systemTimers, monotonicNow = () => performance.now(), random = Math.random } = options;
  const path = leasePath(namespace, name);
  const { promise: leading, resolve: markLeading } = Promise.withResolvers<void>();
  const { promise: lost, resolve: markLost } = Promise.withResolvers<Error>();

  /** Present while we lead, and until it is given up. */
  let held: Lease | undefined;
  let renewedAt = -Infinity;
  /** What was last seen of another's lease, and since when it has been like that. */
  let seen = { spec: '', since: -Infinity, holder: undefined as string | undefined };
  let isOver = false;
  let isFailing = false;
  let running: Promise<void> = Promise.resolve();
  let wake: () => void = () => undefined;
  let cancelDeadline: () => void = () => undefined;

  const holding = () => ({ identity, leaseMs, nowMs: clock.now() });

  function lose(reason: string): void {
    if (isOver || held === undefined) return;
    isOver = true;
    held = undefined;
    cancelDeadline();
    wake();
    onChange?.(false);
    logger.error({ lease: name, reason }, 'Leads no more');
    markLost(new Error(`this process leads no more: ${reason}`));
  }

  function hold(lease: Lease, askedAt: number): void {
    const isNew = held === undefined;
    held = lease;
    renewedAt = askedAt;
    cancelDeadline();
    const leftMs = renewDeadlineMs - (monotonicNow() - askedAt);
    cancelDeadline = clock.schedule(leftMs, () => lose(NOT_RENEWED));
    if (!isNew) return;
    logger.info({ lease: name, identity }, 'Leads');
    onChange?.(true);
    markLeading();
  }

  function see(lease: Lease): void {
    const spec = JSON.stringify(lease.spec ?? {});
    if (spec === seen.spec) return;
    const holder = holderOf(lease);
    if (holder !== undefined && holder !== identity && holder !== seen.holder) {
      logger.info({ lease: name, holder }, 'Waits to lead: another process does');
    }
    seen = { spec, since: monotonicNow(), holder };
  }

  function hasRunOut({ spec }: Lease): boolean {
    const seconds = spec?.leaseDurationSeconds;
    return monotonicNow() - seen.since >= (seconds === undefined ? leaseMs : seconds * 1000);
  }

  async function ask(): Promise<Attempt> {
    if (held !== undefined) {
      const lease = await unlessChanged(client.replace<Lease>(path, renewed(held, holding())));
      if (lease !== undefined) return { lease };
    }
    const found = await client.read<Lease>(path);
    // Lost meanwhile, and not to be taken back.
    if (isOver) return { holder: undefined };
    if (found === undefined) {
      const first = firstLease(namespace, name, holding());
      const lease = await unlessChanged(client.create<Lease>(leasePath(namespace), first));
      return lease === undefined ? { holder: undefined } : { lease };
    }
    see(found);
    const holder = holderOf(found);
    const isOthers = holder !== undefined && holder !== identity;
    if (isOthers && (held !== undefined || !hasRunOut(found))) return { holder };
    const next = holder === identity ? renewed(found, holding()) : takenOver(found, holding());
    const lease = await unlessChanged(client.replace<Lease>(path, next));
    return lease === undefined ? { holder: undefined } : { lease };
  }

  async function attempt(): Promise<void> {
    const askedAt = monotonicNow();
    if (held !== undefined && askedAt - renewedAt >= renewDeadlineMs) return lose(NOT_RENEWED);
    try {
      const result = await within(clock, renewDeadlineMs / 2, ask());
      if (isOver) {
        // A stop fell into this attempt: only the lease as it is now can be given up.
        if ('lease' in result) held = result.lease;
        return;
      }
      isFailing = false;
      if ('lease' in result) hold(result.lease, askedAt);
      else if (result.holder !== undefined) lose(`${result.holder} holds the lease`);
    } catch (error) {
      if (!isFailing && !isOver) logger.warn({ lease: name, error }, 'Could not ask for the lease');
      isFailing = true;
    }
  }

  async function run(): Promise<void> {
    while (!isOver) {
      await attempt();
      if (isOver) return;
      const pauseMs = held === undefined ? retryMs * (1 + JITTER * random()) : retryMs;
      await new Promise<void>((resolve) => {
        const cancel = clock.schedule(pauseMs, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  async function giveUp(lease: Lease): Promise<void> {
    try {
      await within(clock, renewDeadlineMs / 2, client.replace(path, givenUp(lease, clock.now())));
    } catch (error) {
      logger.warn({ lease: name, error }, 'Could not give up the lease; it runs out');
    }
  }

  return {
    leading,
    lost,
    start() {
      onChange?.(false);
      running = run();
    },
    async stop() {
      const wasOver = isOver;
      const wasLeading = held !== undefined;
      isOver = true;
      wake();
      await running;
      cancelDeadline();
      if (wasOver || held === undefined) return;
      await giveUp(held);
      held = undefined;
      if (wasLeading) onChange?.(false);
    },
  };
}

const NOT_RENEWED = 'the lease could not be renewed in time';

/** Undefined where somebody else was faster. */
async function unlessChanged<Answer>(write: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof KubernetesError && (error.status === 409 || error.status === 404)) return undefined;
    throw error;
  }
}

/** A request that still takes effect later does no harm: it was conditional on what it found. */
function within<Answer>(clock: Timers, limitMs: number, work: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(limitMs, () => reject(new Error('no answer in time')));
    void work.then(resolve, reject).finally(cancel);
  });
}
