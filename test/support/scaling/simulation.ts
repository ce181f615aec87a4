import type { ReactorScaling } from '../../../src/domain/declarations.ts';
import { decideReplicas, startScaling } from '../../../src/operator/scaling.ts';
import { ConcurrencyWindow } from '../../../src/reactors/concurrency-window.ts';

/** Calls a second, at a time in seconds from the start. */
export type Load = (second: number) => number;

export interface SimulationOptions {
  load: Load;
  lengthSeconds: number;
  scaling: ReactorScaling;
  /** What one call takes, in ms. */
  serviceMs: number;
  /** From when an instance is asked for until it answers, in ms. */
  startMs: number;
  /** From 0 to below 1; spreads calls and what they take. Absent: both are even. */
  random?: () => number;
}

/** What there was in one second. */
export interface Sample {
  second: number;
  /** Calls running and held, averaged over the second. */
  demand: number;
  desired: number;
  ready: number;
  /** Of the calls that began in this second, the longest wait, in ms. */
  longestWaitMs: number;
  /** Refused in this second. */
  rejected: number;
}

interface Instance {
  readyAt: number;
  running: number[];
  isLeaving: boolean;
}

interface Held {
  since: number;
}

const TICK_MS = 20;
const BEAT_MS = 1_000;
/** As the pool has them. */
const QUEUE_DEPTH = 10;
const LONGEST_WAIT_MS = 20_000;

/**
 * Drives the decision function and the window that are in use, against a model of the pool and of instances: calls come
 * as the load says and are held first come, first served; instances take a while to start, and end what they run.
 */
export function simulate(options: SimulationOptions): Sample[] {
  const { load, lengthSeconds, scaling, serviceMs, startMs, random } = options;
  const window = new ConcurrencyWindow();
  const samples: Sample[] = [];
  let state = startScaling(scaling.minReplicas, 0);
  let instances: Instance[] = Array.from({ length: scaling.minReplicas }, () => newInstance(0));
  let queue: Held[] = [];
  let due = 0;
  let nextBeatAt = 0;
  let noticedAt = -Infinity;
  let longestWaitMs = 0;
  let rejected = 0;
  let busyMs = 0;

  const isUsable = ({ readyAt, isLeaving }: Instance, now: number) => readyAt <= now && !isLeaving;
  const runningNow = () => instances.reduce((sum, { running }) => sum + running.length, 0);

  function decide(now: number): void {
    const average = window.average(now);
    state = decideReplicas(scaling, state, { average, isWhole: true }, now);
    const staying = instances.filter(({ isLeaving }) => !isLeaving);
    for (let count = staying.length; count < state.replicas; count += 1) instances.push(newInstance(now + startMs));
    // As a ReplicaSet does: those first that are not ready.
    const leaving = staying
      .sort((a, b) => b.readyAt - a.readyAt)
      .slice(0, Math.max(staying.length - state.replicas, 0));
    for (const instance of leaving) instance.isLeaving = true;
  }

  function arrive(now: number): void {
    due += (load(now / 1_000) * TICK_MS) / 1_000;
    const calls = random === undefined ? Math.floor(due + 1e-9) : poisson(due, random);
    due = random === undefined ? due - calls : 0;
    for (let call = 0; call < calls; call += 1) {
      if (queue.length >= QUEUE_DEPTH * scaling.concurrency * scaling.maxReplicas) rejected += 1;
      else queue.push({ since: now });
    }
  }

  function dispatch(now: number): void {
    const free = () =>
      instances
        .filter((instance) => isUsable(instance, now) && instance.running.length < scaling.concurrency)
        .sort((a, b) => a.running.length - b.running.length)[0];
    for (let instance = free(); instance !== undefined && queue.length > 0; instance = free()) {
      const { since } = queue.shift()!;
      longestWaitMs = Math.max(longestWaitMs, now - since);
      instance.running.push(now + (random === undefined ? serviceMs : serviceMs * (0.5 + random())));
    }
    const late = queue.filter(({ since }) => now - since >= LONGEST_WAIT_MS).length;
    queue = queue.slice(late);
    rejected += late;
  }

  for (let now = 0; now < lengthSeconds * 1_000; now += TICK_MS) {
    for (const instance of instances) instance.running = instance.running.filter((end) => end > now);
    instances = instances.filter(({ isLeaving, running }) => !isLeaving || running.length > 0);
    arrive(now);
    window.set(runningNow() + queue.length, now);
    dispatch(now);
    busyMs += (runningNow() + queue.length) * TICK_MS;
    const isNoticed = queue.length > 0 && now - noticedAt >= BEAT_MS;
    if (isNoticed) noticedAt = now;
    if (isNoticed || now >= nextBeatAt) {
      decide(now);
      nextBeatAt = now + BEAT_MS;
    }
    if ((now + TICK_MS) % 1_000 === 0) {
      samples.push({
        second: Math.floor(now / 1_000),
        demand: busyMs / 1_000,
        desired: state.replicas,
        ready: instances.filter((instance) => isUsable(instance, now)).length,
        ...{ longestWaitMs, rejected },
      });
      longestWaitMs = rejected = busyMs = 0;
    }
  }
  return samples;
}

function newInstance(readyAt: number): Instance {
  return { readyAt, running: [], isLeaving: false };
}

/** How many of what comes by chance, with this mean, there are (Knuth). */
function poisson(mean: number, random: () => number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count += 1;
  return count;
}
