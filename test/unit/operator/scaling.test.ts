import { expect } from 'chai';
import type { ReactorScaling } from '../../../src/domain/declarations.ts';
import { decideReplicas, startScaling } from '../../../src/operator/scaling.ts';
import type { ObservedDemand, ScalingState } from '../../../src/operator/scaling.ts';

const NOW = 1_000_000;
const SECOND = 1_000;

interface Case {
  /** Where the rule comes from, or the fault of others that it keeps away. */
  source: string;
  scaling?: Partial<ReactorScaling>;
  state?: Partial<ScalingState>;
  /** Averages of the stable and of the panic window; 'unknown': nobody told. */
  demand: [stable: number, panic: number] | 'unknown';
  isPartial?: boolean;
  /** Replicas that are asked for. */
  asks: number;
  /** Whether none is taken away for a while. */
  panics?: boolean;
}

const CONFIG = 'knative config-autoscaler';
const SOURCE = 'knative pkg/autoscaler/scaling/autoscaler.go';

const CASES: Record<string, Case> = {
  'one replica for what 70 % of it can take': {
    source: `${CONFIG}: container-concurrency-target-percentage 70`,
    demand: [0.7, 0.7],
    asks: 1,
  },
  'another one beyond that': {
    source: `${CONFIG}: container-concurrency-target-percentage 70`,
    demand: [0.71, 0.71],
    asks: 2,
    panics: true,
  },
  'no replica for what averages miss by': {
    source: 'three times 0.7 is more than 2.1 to a computer',
    demand: [2.1, 2.1],
    state: { replicas: 2 },
    asks: 3,
  },
  'as many fewer as each takes more': {
    source: `${CONFIG}: the target is that of one replica`,
    scaling: { concurrency: 10 },
    demand: [20, 20],
    state: { replicas: 2 },
    asks: 3,
  },
  'the stable window where no burst is on': {
    source: `${SOURCE}: desiredPodCount := desiredStablePodCount`,
    demand: [2.8, 4.2],
    state: { replicas: 4 },
    asks: 4,
  },
  'the panic window where it asks for twice as many': {
    source: `${CONFIG}: panic-threshold-percentage 200`,
    demand: [2.8, 5.6],
    state: { replicas: 4 },
    asks: 8,
    panics: true,
  },
  'not the panic window just below that': {
    source: `${CONFIG}: panic-threshold-percentage 200`,
    demand: [2.8, 4.9],
    state: { replicas: 4 },
    asks: 4,
  },
  'the larger of the two windows in a panic': {
    source: `${SOURCE}: we should provision for stable as for panic`,
    demand: [7, 1.4],
    state: { replicas: 4, panicUntil: NOW + 1 },
    asks: 10,
    panics: true,
  },
  'none fewer in a panic': {
    source: `${SOURCE}: we do not scale down while in panic mode`,
    demand: [0.7, 0],
    state: { replicas: 8, panicUntil: NOW },
    asks: 8,
    panics: true,
  },
  'fewer once the stable window has passed since': {
    source: `${SOURCE}: stop panicking after the surge has made its way into the stable metric`,
    demand: [3.5, 3.5],
    state: { replicas: 8, panicUntil: NOW - 1 },
    asks: 5,
  },
  'the half of them at least': {
    source: `${CONFIG}: max-scale-down-rate 2`,
    demand: [0.7, 0.7],
    state: { replicas: 9 },
    asks: 4,
  },
  'a burst in full at once': {
    source: `${CONFIG}: max-scale-up-rate 1000; knative/serving#2141: 1, 2, 4, 8 and refusals meanwhile`,
    scaling: { maxReplicas: 100 },
    demand: [50, 50],
    asks: 72,
    panics: true,
  },
  'a thousand times as many at most': {
    source: `${CONFIG}: max-scale-up-rate 1000`,
    scaling: { maxReplicas: 5_000 },
    demand: [3_000, 3_000],
    asks: 1_000,
    panics: true,
  },
  'what waits as well, before any replica is there': {
    source: 'knative/serving#2141: demand is measured where requests are held, not where they run',
    scaling: { minReplicas: 0 },
    state: { replicas: 0 },
    demand: [5, 5],
    asks: 8,
    panics: true,
  },
  'no more than may be': { source: 'maxReplicas', demand: [1_000, 1_000], asks: 10, panics: true },
  'no fewer than may be': {
    source: 'minReplicas',
    scaling: { minReplicas: 3 },
    demand: [0, 0],
    state: { replicas: 1 },
    asks: 3,
  },
  'what the bounds say, however fast': {
    source: 'a bound that was changed counts at once',
    scaling: { maxReplicas: 2 },
    demand: [7, 7],
    state: { replicas: 10 },
    asks: 2,
  },
  'the last one while it is quiet for less than idleSeconds': {
    source: `${CONFIG}: scale-to-zero-pod-retention-period`,
    scaling: { minReplicas: 0 },
    state: { replicas: 1, lastDemandAt: NOW - 59.9 * SECOND },
    demand: [0, 0],
    asks: 1,
  },
  'none once it has been': {
    source: `${CONFIG}: enable-scale-to-zero`,
    scaling: { minReplicas: 0 },
    state: { replicas: 1, lastDemandAt: NOW - 60 * SECOND },
    demand: [0, 0],
    asks: 0,
  },
  'none after a short idle time, though the stable window remembers': {
    source: 'idleSeconds is what was declared',
    scaling: { minReplicas: 0, idleSeconds: 5 },
    state: { replicas: 1, lastDemandAt: NOW - 5 * SECOND, panicUntil: NOW + 40 * SECOND },
    demand: [0.4, 0],
    asks: 0,
  },
  'no further step down within 2 s, however often is decided': {
    source: `${CONFIG}: tick-interval 2s; calls that wait have it decided at once`,
    demand: [0.7, 0.7],
    state: { replicas: 8, loweredAt: NOW - 1.9 * SECOND },
    asks: 8,
  },
  'the next step down after 2 s': {
    source: `${CONFIG}: tick-interval 2s`,
    demand: [0.7, 0.7],
    state: { replicas: 8, loweredAt: NOW - 2 * SECOND },
    asks: 4,
  },
  'the half first, also on the way to none': {
    source: `${CONFIG}: max-scale-down-rate 2`,
    scaling: { minReplicas: 0 },
    state: { replicas: 5, lastDemandAt: NOW - 60 * SECOND },
    demand: [0, 0],
    asks: 2,
  },
  'the minimum for good where it is not none': {
    source: 'minReplicas',
    state: { replicas: 1, lastDemandAt: NOW - 3_600 * SECOND },
    demand: [0, 0],
    asks: 1,
  },
  'none while nobody calls': {
    source: 'minReplicas 0',
    scaling: { minReplicas: 0 },
    state: { replicas: 0, lastDemandAt: NOW - 1 },
    demand: [0, 0],
    asks: 0,
  },
  'as before without data': { source: `${SOURCE}: ErrNoData`, demand: 'unknown', state: { replicas: 7 }, asks: 7 },
  'as before without data, however long': {
    source: `${SOURCE}: ErrNoData`,
    scaling: { minReplicas: 0 },
    demand: 'unknown',
    state: { replicas: 7, lastDemandAt: 0 },
    asks: 7,
  },
  'what the bounds say without data': {
    source: 'they are declared, and not measured',
    scaling: { minReplicas: 2 },
    demand: 'unknown',
    state: { replicas: 1 },
    asks: 2,
  },
  'none fewer where a part of the API does not tell': {
    source: 'there may be more than what is known of',
    demand: [0.7, 0.7],
    state: { replicas: 6 },
    isPartial: true,
    asks: 6,
  },
  'more where a part of the API does not tell': {
    source: 'there is at least what is known of',
    demand: [7, 7],
    state: { replicas: 6 },
    isPartial: true,
    asks: 10,
  },
};

describe('how many replicas are asked for', () => {
  const defaults: ReactorScaling = { minReplicas: 1, maxReplicas: 10, concurrency: 1, idleSeconds: 60 };

  for (const [title, { source, scaling, state, demand, isPartial = false, asks, panics = false }] of Object.entries(
    CASES,
  )) {
    it(`${title} (${source})`, () => {
      const before = { replicas: 1, lastDemandAt: NOW, ...state };
      const observed: ObservedDemand | undefined =
        demand === 'unknown' ? undefined : { average: { stable: demand[0], panic: demand[1] }, isWhole: !isPartial };
      const after = decideReplicas({ ...defaults, ...scaling }, before, observed, NOW);
      expect(after.replicas).to.equal(asks);
      expect(after.panicUntil !== undefined && after.panicUntil >= NOW).to.equal(panics);
    });
  }

  it('starts with what runs, and keeps that for a stable window: others are to tell first', () => {
    const started = startScaling(4, NOW);
    const quiet: ObservedDemand = { average: { stable: 0, panic: 0 }, isWhole: true };
    expect(decideReplicas(defaults, started, quiet, NOW + 59 * SECOND).replicas).to.equal(4);
    expect(decideReplicas({ ...defaults, idleSeconds: 300 }, started, quiet, NOW + 61 * SECOND).replicas).to.equal(2);
  });

  it('counts time in which nobody told of demand as time with demand', () => {
    const scaling = { ...defaults, minReplicas: 0 };
    const unknown = decideReplicas(scaling, { replicas: 1, lastDemandAt: 0 }, undefined, NOW);
    const quiet: ObservedDemand = { average: { stable: 0, panic: 0 }, isWhole: true };
    expect(decideReplicas(scaling, unknown, quiet, NOW + 59 * SECOND).replicas).to.equal(1);
    expect(decideReplicas(scaling, unknown, quiet, NOW + 60 * SECOND).replicas).to.equal(0);
  });
});
