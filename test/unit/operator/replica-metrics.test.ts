import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { WorkloadState } from '../../../src/operator/reconcilers/workload.ts';
import { registerReplicaMetrics } from '../../../src/operator/replica-metrics.ts';

describe('metrics of what runs of reactors', () => {
  const state = (changes: Partial<WorkloadState> = {}): WorkloadState => ({
    ...{ tenantId: 'canary-tenant', reactorId: 'canary-reactor', revision: '1', ready: [], desired: 1 },
    engine: 'Builtin',
    ...changes,
  });

  function metricsOf(states: WorkloadState[]): () => Promise<string> {
    const registry = new Registry();
    registerReplicaMetrics(registry, { states: () => states });
    return () => registry.metrics();
  }

  it('count the reactors that fail by reason, as long as they do, and name none', async () => {
    const states = [
      state(),
      state({ failure: 'stopped', failureReason: 'Degraded' }),
      state({ failure: 'stopped', failureReason: 'Degraded', desired: 0 }),
      state({ failure: 'does not start' }),
    ];
    const read = metricsOf(states);
    const failing = async () => (await read()).match(/^tokenkeep_reactors_failing\{.*$/gm);
    expect(await failing()).to.have.members([
      'tokenkeep_reactors_failing{reason="Degraded"} 2',
      'tokenkeep_reactors_failing{reason="InstancesFailing"} 1',
    ]);
    expect(await read()).not.to.include('canary');
    states.splice(1);
    expect(await failing()).to.equal(null);
  });

  it('count instances by what decides on their number', async () => {
    const text = await metricsOf([state({ desired: 2 }), state({ desired: 3, engine: 'KEDA' })])();
    expect(text.split('\n')).to.include.members([
      'tokenkeep_reactor_desired_replicas{engine="Builtin"} 2',
      'tokenkeep_reactor_desired_replicas{engine="KEDA"} 3',
      'tokenkeep_reactor_ready_replicas{engine="Builtin"} 0',
    ]);
  });
});
