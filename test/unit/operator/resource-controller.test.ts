import { expect } from 'chai';
import { createCleanedResources } from '../../../src/operator/cleaned-resources.ts';
import { ready } from '../../../src/operator/conditions.ts';
import { createDriftWatch } from '../../../src/operator/drift-watch.ts';
import { InternalApiError } from '../../../src/operator/internal-client.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';
import type { AnyResource } from '../../../src/operator/kinds/resources.ts';
import type { WorkResult } from '../../../src/operator/queue.ts';
import { ResourceController } from '../../../src/operator/resource-controller.ts';
import type { ControllerOptions } from '../../../src/operator/resource-controller.ts';
import type { ResourceSource } from '../../../src/operator/sources/types.ts';
import { createStatusWriter } from '../../../src/operator/status-writer.ts';
import { createResourceStore } from '../../../src/operator/store.ts';
import { KubernetesError } from '../../../src/platform/kubernetes/errors.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';

const KEY = 'Application/shop/payments';
const METADATA = { namespace: 'shop', name: 'payments', labels: {}, annotations: {}, generation: 1 };
const APPLICATION = {
  kind: 'Application',
  metadata: { ...METADATA, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { key: {} },
} as unknown as ApplicationResource;

const refused = (status?: number, retryAfterMs?: number) =>
  new KubernetesError({
    ...{ method: 'PATCH', path: '/api/v1/namespaces/shop/secrets/payments' },
    ...(status === undefined ? { reason: 'Disconnected' } : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('the resource controller', () => {
  let fail: () => unknown;
  let reasons: (string | undefined)[];
  let lines: string[];
  let controller: ResourceController;
  let put: (resource: AnyResource) => void;

  beforeEach(() => {
    fail = () => undefined;
    reasons = [];
    lines = [];
    const store = createResourceStore();
    put = (resource) => void store.put(resource);
    const source = {
      writeStatus: async (_ref, status) => {
        const before = store.get('Application', 'shop', 'payments')!;
        store.put({ ...before, status });
        reasons.push(status.conditions.find(({ type }) => type === 'Ready')?.reason);
      },
      setFinalizer: async () => undefined,
      recordEvent: () => undefined,
    } satisfies Partial<ResourceSource> as unknown as ResourceSource;
    const act = () => {
      const error = fail();
      if (error !== undefined) throw error as Error;
    };
    const reconcilers = {
      Application: {
        reconcile: async () => {
          act();
          return { outcome: ready('Reconciled') };
        },
        finalize: async () => act(),
      },
    };
    controller = new ResourceController({
      ...{ store, source, statusWriter: createStatusWriter(source, store, createManualClock()) },
      ...{ drift: createDriftWatch(source), cleaned: createCleanedResources() },
      reconcilers: reconcilers as unknown as ControllerOptions['reconcilers'],
      logger: createLogger({ level: 'info', format: 'json', destination: { write: (line) => lines.push(line) } }),
      isApiAway: () => false,
      tenantMissing: () => undefined,
    });
    put(APPLICATION);
  });

  async function failing(error: unknown, times = 1): Promise<WorkResult | undefined> {
    fail = () => error;
    let result: WorkResult | undefined;
    for (let attempt = 0; attempt < times; attempt += 1) result = await controller.work(KEY);
    fail = () => undefined;
    return result;
  }

  it('tries again where another writer came in between, however often, and tells nobody', async () => {
    await controller.work(KEY);
    lines = [];
    expect(await failing(refused(409), 10)).to.include({ failed: true });
    expect(await controller.work(KEY)).not.to.have.property('failed');
    expect(reasons).to.deep.equal(['Reconciled']);
    expect(lines).to.be.empty;
  });

  for (const status of [undefined, 403, 429, 503]) {
    it(`shows a failure of the Kubernetes API with ${status ?? 'no'} status the third time in a row`, async () => {
      await controller.work(KEY);
      await failing(refused(status), 2);
      await controller.work(KEY);
      await failing(refused(status), 2);
      expect(reasons).to.deep.equal(['Reconciled']);
      await failing(refused(status));
      await controller.work(KEY);
      expect(reasons).to.deep.equal(['Reconciled', 'SourceUnavailable', 'Reconciled']);
      expect(lines.join()).to.include('Could not reconcile');
    });
  }

  it('does not take conflicts for the end of a row of failures, nor for failures of it', async () => {
    for (const status of [503, 409, 503, 409]) await failing(refused(status));
    expect(reasons).to.be.empty;
    await failing(refused(503));
    expect(reasons).to.deep.equal(['SourceUnavailable']);
  });

  it('shows the same way why a resource cannot be cleaned up after', async () => {
    put({ ...APPLICATION, metadata: { ...APPLICATION.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } });
    await failing(refused(409), 5);
    await failing(refused(503), 2);
    expect(reasons).to.be.empty;
    await failing(refused(503));
    expect(reasons).to.deep.equal(['Deleting']);
  });

  it('shows at once what does not come from the Kubernetes API', async () => {
    await failing(new InternalApiError('The API answered 503', 503));
    await failing(new Error('disk full'));
    expect(reasons).to.deep.equal(['ApiUnavailable', 'SourceUnavailable']);
  });

  it('has the queue wait for as long as the Kubernetes API asks to', async () => {
    expect(await failing(refused(429, 7_000))).to.deep.include({ failed: true, retryAfterMs: 7_000 });
    expect(await failing(refused(503))).not.to.have.property('retryAfterMs');
    put({ ...APPLICATION, metadata: { ...APPLICATION.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } });
    expect(await failing(refused(503, 2_000))).to.include({ retryAfterMs: 2_000 });
  });
});
