import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { settledWithin, systemTimers } from '../timers.ts';
import type { Timers } from '../timers.ts';
import { createEventBudget } from './event-budget.ts';
import { buildEvent, buildSeries, eventPath, identify } from './event-object.ts';
import type { EventIdentity, EventToRecord, Regarding } from './event-object.ts';

/** What became of an event: written, held back by the budget of its object, given up, or refused by the API. */
export type EventResult = 'written' | 'suppressed' | 'dropped' | 'refused';

/** Writes Events of events.k8s.io/v1. Repetitions are counted in one Event. */
export interface EventRecorder {
  /** Takes the event and returns: neither waits nor throws. */
  record(regarding: Regarding, event: EventToRecord): void;
  /** Writes what is still to be written, for a few seconds at most, and takes no more. Never rejects. */
  stop(): Promise<void>;
}

export interface EventRecorderOptions {
  client: Pick<KubernetesClient, 'create' | 'mergePatch'>;
  /** Which process reports: the pod's name. */
  instance: string;
  logger: Logger;
  clock?: Timers;
  onResult?: (result: EventResult) => void;
}

/** What happens again and again to one object, and how much of it is written. */
interface Series {
  regarding: Regarding;
  /** As it was first: nothing but the count of a written Event can be changed. */
  event: EventToRecord;
  identity: EventIdentity;
  firstAtMs: number;
  lastAtMs: number;
  count: number;
  /** Of these; 0 where the Event is not there yet. */
  written: number;
  attempts: number;
  /** Present while the next write is put off. */
  cancelWrite?: (() => void) | undefined;
}

// After such a silence, as in client-go, the same is told as something new.
const SERIES_MS = 360_000;
// Repetitions of one second need not be written one by one.
const COUNT_DELAY_MS = 5_000;
const MOST_OBJECTS = 4_096;
const MOST_WAITING = 4_096;
const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const STOP_MS = 3_000;

/** Events are told on the side: one at a time, and given up rather than let grow without bound. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, instance, logger, clock = systemTimers, onResult = () => undefined } = options;
  const budget = createEventBudget(MOST_OBJECTS);
  /** What goes on, the quietest first. */
  const series = new Map<string, Series>();
  const waiting = new Set<Series>();
  let isWriting = false;
  let isStopping = false;
  let wake: () => void = () => undefined;
  let writing: Promise<void> = Promise.resolve();

  function keep(key: string, current: Series): void {
    series.delete(key);
    series.set(key, current);
    if (series.size <= MOST_OBJECTS) return;
    const [[quietest, forgotten] = []] = series;
    if (quietest !== undefined) series.delete(quietest);
    forgotten?.cancelWrite?.();
  }

  function forget(lost: Series, result: EventResult): void {
    onResult(result);
    const key = keyOf(lost.regarding, lost.event);
    if (series.get(key) === lost) series.delete(key);
  }

  function enqueue(next: Series): void {
    next.cancelWrite?.();
    next.cancelWrite = undefined;
    if (waiting.size >= MOST_WAITING) return forget(next, 'dropped');
    waiting.add(next);
    if (isWriting) return;
    isWriting = true;
    writing = writeAll();
  }

  async function writeAll(): Promise<void> {
    for (;;) {
      const [next] = waiting;
      if (next === undefined) break;
      waiting.delete(next);
      await writeOne(next);
    }
    isWriting = false;
  }

  async function writeOne(next: Series): Promise<void> {
    const { identity, count, lastAtMs, regarding, event, firstAtMs } = next;
    const told = { count, lastAtMs };
    try {
      if (next.written === 0) {
        const object = buildEvent(identity, regarding, event, { instance, firstAtMs, series: told });
        await client.create(eventPath(identity.namespace), object);
      } else {
        await client.mergePatch(eventPath(identity.namespace, identity.name), buildSeries(told));
      }
      succeeded(next, count);
    } catch (error) {
      // Written by an attempt whose answer was lost.
      if (next.attempts > 0 && statusOf(error) === 409) succeeded(next, count);
      else await failed(next, error);
    }
  }

  function succeeded(next: Series, count: number): void {
    next.written = count;
    next.attempts = 0;
    onResult('written');
    if (next.count > count) putOff(next);
  }

  async function failed(next: Series, error: unknown): Promise<void> {
    const status = statusOf(error);
    if (status === 404 && next.written > 0) return beginAnew(next);
    const mayHelp = status === undefined || status === 429 || status >= 500;
    if (!mayHelp) {
      logger.debug({ error }, 'The API refused an event');
      return forget(next, 'refused');
    }
    next.attempts += 1;
    if (next.attempts >= MOST_ATTEMPTS || isStopping) {
      logger.debug({ error }, 'Gave up an event');
      return forget(next, 'dropped');
    }
    waiting.add(next);
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** (next.attempts - 1), LONGEST_PAUSE_MS));
  }

  /** The API keeps events for an hour or so. */
  function beginAnew(gone: Series): void {
    gone.identity = identify(gone.regarding);
    gone.count -= gone.written;
    gone.firstAtMs = gone.lastAtMs;
    gone.written = 0;
    enqueue(gone);
  }

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.schedule(delayMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }

  function putOff(repeated: Series): void {
    if (repeated.cancelWrite !== undefined || waiting.has(repeated)) return;
    repeated.cancelWrite = clock.schedule(COUNT_DELAY_MS, () => {
      repeated.cancelWrite = undefined;
      if (budget.spend(repeated.regarding.uid, clock.now())) enqueue(repeated);
      else putOff(repeated);
    });
  }

  function begin(key: string, regarding: Regarding, event: EventToRecord): void {
    const now = clock.now();
    if (!budget.spend(regarding.uid, now)) return onResult('suppressed');
    const times = { firstAtMs: now, lastAtMs: now, count: 1, written: 0, attempts: 0 };
    const first: Series = { regarding, event, identity: identify(regarding), ...times };
    keep(key, first);
    enqueue(first);
  }

  return {
    record(regarding, event) {
      if (isStopping) return;
      const key = keyOf(regarding, event);
      const current = series.get(key);
      if (current === undefined || clock.now() - current.lastAtMs > SERIES_MS) return begin(key, regarding, event);
      current.count += 1;
      current.lastAtMs = clock.now();
      keep(key, current);
      putOff(current);
    },
    async stop() {
      isStopping = true;
      wake();
      for (const pending of series.values()) if (pending.cancelWrite !== undefined) enqueue(pending);
      await settledWithin(clock, STOP_MS, writing);
      waiting.clear();
    },
  };
}

function statusOf(error: unknown): number | undefined {
  return error instanceof KubernetesError ? error.status : undefined;
}

/** The message is no part of it: the same may happen with a figure that differs each time. */
function keyOf({ uid, kind, namespace, name }: Regarding, { type, reason, action }: EventToRecord): string {
  return JSON.stringify([uid, kind, namespace, name, type, reason, action]);
}
