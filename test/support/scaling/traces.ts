import type { SimulationOptions } from './simulation.ts';

export interface Trace extends Omit<SimulationOptions, 'random'> {
  title: string;
}

const SCALING = { minReplicas: 1, maxReplicas: 20, concurrency: 1, idleSeconds: 300 };
/** An image that the node has, and a process that loads code. */
const START_MS = 2_000;
const SERVICE_MS = 200;

/** Loads that scaling is driven over, and shown with. */
export const TRACES: Record<string, Trace> = {
  step: {
    title: 'Step: from nothing to 40 calls a second of 200 ms each, for five minutes',
    load: (second) => (second >= 30 && second < 330 ? 40 : 0),
    ...{ lengthSeconds: 480, scaling: SCALING, serviceMs: SERVICE_MS, startMs: START_MS },
  },
  burst: {
    title: 'Burst: 5 calls a second, and 60 a second for ten seconds',
    load: (second) => (second >= 90 && second < 100 ? 60 : 5),
    ...{ lengthSeconds: 300, scaling: SCALING, serviceMs: SERVICE_MS, startMs: START_MS },
  },
  sine: {
    title: 'Sine: up to 50 calls a second and down again, every five minutes',
    load: (second) => 25 - 25 * Math.cos((2 * Math.PI * second) / 300),
    ...{ lengthSeconds: 900, scaling: SCALING, serviceMs: SERVICE_MS, startMs: START_MS },
  },
  idle: {
    title: 'Idle: a call a second for a minute, quiet, and again; minReplicas 0, idleSeconds 120',
    load: (second) => (second % 300 >= 10 && second % 300 < 70 ? 1 : 0),
    scaling: { ...SCALING, minReplicas: 0, idleSeconds: 120 },
    ...{ lengthSeconds: 600, serviceMs: SERVICE_MS, startMs: START_MS },
  },
};
