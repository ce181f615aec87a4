import { expect } from 'chai';
import type { ReactorWorkload } from '../../../../src/domain/declarations.ts';
import { KubernetesError } from '../../../../src/platform/kubernetes/errors.ts';
import { createScaler, ScalerMissingError } from '../../../../src/operator/runtimes/kubernetes/scaler.ts';
import { systemTimers } from '../../../../src/operator/timers.ts';
import { labelsOf, workloadName } from '../../../../src/operator/workloads/names.ts';
import { buildScaledObject } from '../../../../src/operator/workloads/scaled-object.ts';
import { rejection } from '../../../support/rejection.ts';
import { workloadOf } from '../../../support/reactors.ts';

/** As an API server books what is applied. */
function fieldsOf(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [`f:${name}`, fieldsOf(member)]));
}

const ORIGIN = 'http://tokenkeep-metrics.tokenkeep-system.svc:9090';

describe('what KEDA is given', () => {
  const workload = workloadOf('', {
    ...{ tenantId: 'the-tenant', reactorId: 'the-reactor' },
    scaling: { engine: 'KEDA', minReplicas: 0, maxReplicas: 20, concurrency: 4, idleSeconds: 120 },
  });
  const name = workloadName(workload);

  it('scales the Deployment of the reactor by the sum of what each replica of the API tells', () => {
    expect(buildScaledObject(workload, ORIGIN)).to.deep.equal({
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name, labels: labelsOf(workload) },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        pollingInterval: 5,
        cooldownPeriod: 120,
        minReplicaCount: 0,
        maxReplicaCount: 20,
        fallback: { failureThreshold: 3, replicas: 1, behavior: 'currentReplicas' },
        triggers: [
          {
            type: 'metrics-api',
            metricType: 'AverageValue',
            metadata: {
              url: `${ORIGIN}/reactors/the-tenant/the-reactor/demand`,
              format: 'json',
              valueLocation: 'average',
              targetValue: '2.8',
              activationTargetValue: '0',
              aggregateFromKubeServiceEndpoints: 'true',
              aggregationType: 'sum',
            },
          },
        ],
      },
    });
  });

  describe('in a cluster', () => {
    let there: string[];
    let calls: string[];
    let hasKeda: boolean;
    const missing = () =>
      new KubernetesError({ method: 'GET', path: '/apis/keda.sh', status: 404, reason: 'NotFound' });
    const client = {
      async listPage<T>() {
        if (!hasKeda) throw missing();
        return { items: there.map((each) => ({ metadata: { name: each } }) as T), resourceVersion: '1' };
      },
      async apply<T>(at: { name?: string }, object: object) {
        if (!hasKeda) throw missing();
        calls.push(`apply ${at.name}`);
        const { metadata, spec } = object as { metadata: object; spec: object };
        const managedFields = [{ manager: 'tokenkeep-operator', fieldsV1: fieldsOf({ metadata, spec }) }];
        return { metadata: { ...metadata, managedFields }, spec } as T;
      },
      async remove(at: { name?: string }) {
        calls.push(`remove ${at.name}`);
      },
    };
    const parts = { client, namespace: 'reactors', clock: systemTimers };
    const builtin: ReactorWorkload = { ...workload, scaling: { ...workload.scaling, engine: 'Builtin' } };

    beforeEach(() => {
      there = [];
      calls = [];
      hasKeda = true;
    });

    it('is applied once, again where it changes, and removed where the engine is another', async () => {
      const scaler = createScaler({ ...parts, metricsOrigin: ORIGIN });
      await scaler.ensure(workload);
      await scaler.ensure(workload);
      await scaler.ensure({ ...workload, scaling: { ...workload.scaling, maxReplicas: 30 } });
      await scaler.ensure(builtin);
      await scaler.ensure(builtin);
      expect(calls).to.deep.equal([`apply ${name}`, `apply ${name}`, `remove ${name}`]);
    });

    it('is removed where an operator before this one made it, and nothing else is', async () => {
      there = [name, 'another'];
      await createScaler({ ...parts, metricsOrigin: ORIGIN }).ensure(builtin);
      expect(calls).to.deep.equal([`remove ${name}`]);
    });

    it('asks for KEDA where there is none, and is not missed by reactors that need none', async () => {
      hasKeda = false;
      const scaler = createScaler({ ...parts, metricsOrigin: ORIGIN });
      await scaler.ensure(builtin);
      expect(await rejection(scaler.ensure(workload))).to.be.instanceOf(ScalerMissingError);
    });

    it('asks for the address of the metrics where it is not known', async () => {
      const error = await rejection(createScaler(parts).ensure(workload));
      expect(error).to.be.instanceOf(ScalerMissingError);
      expect(error.message).to.include('--api-metrics-url');
      expect(calls).to.deep.equal([]);
    });
  });
});
