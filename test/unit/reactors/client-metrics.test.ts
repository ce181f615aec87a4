import { expect } from 'chai';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { createReactorClient } from '../../../src/reactors/client.ts';
import type { ReactorClient } from '../../../src/reactors/client.ts';
import { createPoolMetrics } from '../../../src/reactors/client-metrics.ts';

describe('the metrics of invocations', () => {
  it('tell what runs, waits and is refused, and name no reactor', async () => {
    const metrics = createMetrics();
    const client: ReactorClient = createReactorClient({
      observer: createPoolMetrics(metrics, () => client.load()),
      maxWaitMs: 1_000,
    });
    const invocation = {
      tenantId: 'the-tenant',
      reactorId: 'the-reactor',
      revision: 'r1',
      args: null,
      traceId: 'trace',
    };
    const scaling = { concurrency: 1, maxReplicas: 1 };
    await client.invoke({ ...invocation, reactorId: 'another', timeoutMs: 30_000 });
    const held = Array.from({ length: 11 }, () => client.invoke({ ...invocation, scaling, timeoutMs: 30_000 }));
    const text = await metrics.registry.metrics();
    expect(text).to.match(/^tokenkeep_reactor_inflight 0$/m);
    expect(text).to.match(/^tokenkeep_reactor_waiting 10$/m);
    expect(text).to.match(/^tokenkeep_reactor_cold_starts_total 0$/m);
    expect(text).to.match(/^tokenkeep_reactor_rejected_total\{reason="queue-full"\} 1$/m);
    expect(text).to.match(/^tokenkeep_reactor_rejected_total\{reason="no-instance-in-time"\} 1$/m);
    expect(text).not.to.match(/the-tenant|the-reactor|another/);
    await client.stop();
    await Promise.all(held);
    const atTheEnd = await metrics.registry.metrics();
    expect(atTheEnd).to.match(/reason="stopping"\} 10$/m);
    const ended = /^tokenkeep_reactor_invocation_duration_seconds_count\{outcome="(\S+)",mode="synchronous"\} (\d+)$/gm;
    const counts = Object.fromEntries(
      [...atTheEnd.matchAll(ended)].map(([, outcome, count]) => [outcome, Number(count)]),
    );
    expect(counts).to.deep.include({ unavailable: 12, returned: 0, 'timed-out': 0 });
  });
});
