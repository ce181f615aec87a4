import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createControllerMetrics } from '../../../src/operator/controller-metrics.ts';
import { createControllers } from '../../../src/operator/controllers.ts';
import type { WorkResult } from '../../../src/operator/queue.ts';
import { registerResourceMetrics } from '../../../src/operator/resource-metrics.ts';
import type { ResourceStore } from '../../../src/operator/store.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';

describe('the figures of controllers', () => {
  function createMeasured(results: Record<string, WorkResult[]>) {
    const registry = new Registry();
    const clock = createManualClock();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const controllers = createControllers({
      work: async (key) => {
        await gate;
        return results[key]?.shift() ?? {};
      },
      ...{ clock, workers: 2, metrics: createControllerMetrics(registry) },
    });
    /** Of a series as it is written: `name{label="value"}`. */
    const valueOf = async (series: string) => {
      const line = (await registry.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    };
    return { registry, clock, controllers, open, valueOf };
  }

  const APPLICATION = 'name="application",controller="application"';

  it('have the names and labels of controller-runtime and client-go, from the start', async () => {
    const { registry, valueOf } = createMeasured({});
    for (const controller of ['tenant', 'application', 'accessrule', 'reactor']) {
      const queue = `name="${controller}",controller="${controller}"`;
      for (const result of ['success', 'error', 'requeue', 'requeue_after']) {
        const series = `controller_runtime_reconcile_total{controller="${controller}",result="${result}"}`;
        expect(await valueOf(series), series).to.equal(0);
      }
      for (const [series, value] of Object.entries({
        [`controller_runtime_reconcile_errors_total{controller="${controller}"}`]: 0,
        [`controller_runtime_terminal_reconcile_errors_total{controller="${controller}"}`]: 0,
        [`controller_runtime_reconcile_panics_total{controller="${controller}"}`]: 0,
        [`controller_runtime_max_concurrent_reconciles{controller="${controller}"}`]: 2,
        [`controller_runtime_active_workers{controller="${controller}"}`]: 0,
        [`workqueue_adds_total{${queue}}`]: 0,
        [`workqueue_retries_total{${queue}}`]: 0,
        [`workqueue_depth{${queue},priority="0"}`]: 0,
        [`workqueue_depth{${queue},priority="-100"}`]: 0,
        [`workqueue_unfinished_work_seconds{${queue}}`]: 0,
        [`workqueue_longest_running_processor_seconds{${queue}}`]: 0,
      })) {
        expect(await valueOf(series), series).to.equal(value);
      }
    }
    const text = await registry.metrics();
    for (const histogram of ['reconcile_time', 'queue_duration', 'work_duration']) {
      expect(text).to.match(new RegExp(`# TYPE \\w+_${histogram}_seconds histogram`));
    }
  });

  it('tell what runs and what waits, by priority', async () => {
    const { clock, controllers, open, valueOf } = createMeasured({});
    for (const name of ['a', 'b', 'c']) controllers.add(`Application/default/${name}`, 'normal');
    controllers.add('Application/default/d', 'low');
    await clock.advance(3_000);
    expect(await valueOf('controller_runtime_active_workers{controller="application"}')).to.equal(2);
    expect(await valueOf(`workqueue_depth{${APPLICATION},priority="0"}`)).to.equal(1);
    expect(await valueOf(`workqueue_depth{${APPLICATION},priority="-100"}`)).to.equal(1);
    expect(await valueOf(`workqueue_unfinished_work_seconds{${APPLICATION}}`)).to.equal(6);
    expect(await valueOf(`workqueue_longest_running_processor_seconds{${APPLICATION}}`)).to.equal(3);
    open();
    await controllers.idle();
    expect(await valueOf(`workqueue_adds_total{${APPLICATION}}`)).to.equal(4);
    expect(await valueOf(`workqueue_work_duration_seconds_sum{${APPLICATION}}`)).to.equal(6);
    expect(await valueOf(`workqueue_queue_duration_seconds_count{${APPLICATION}}`)).to.equal(4);
  });

  it('count how reconciliations end, faults of the program apart', async () => {
    const { clock, controllers, open, valueOf } = createMeasured({
      'Application/default/later': [{ requeueAfterMs: 60_000 }],
      'Application/default/stalled': [{ stalled: true }],
      'Application/default/failing': [{ failed: true }, { failed: true, isBug: true }],
    });
    open();
    for (const name of ['fine', 'later', 'stalled', 'failing']) controllers.add(`Application/default/${name}`);
    await clock.advance(1_000);
    const totals = async (result: string) =>
      valueOf(`controller_runtime_reconcile_total{controller="application",result="${result}"}`);
    expect(await totals('success')).to.equal(2);
    expect(await totals('requeue_after')).to.equal(1);
    expect(await totals('error')).to.equal(3);
    expect(await valueOf('controller_runtime_reconcile_errors_total{controller="application"}')).to.equal(3);
    expect(await valueOf('controller_runtime_terminal_reconcile_errors_total{controller="application"}')).to.equal(1);
    expect(await valueOf('controller_runtime_reconcile_panics_total{controller="application"}')).to.equal(1);
    expect(await valueOf(`workqueue_retries_total{${APPLICATION}}`)).to.equal(2);
    await controllers.stop();
  });

  it('count conditions of resources by kind, and name no resource', async () => {
    const application = (...conditions: [string, string][]) => ({
      kind: 'Application',
      metadata: { namespace: 'secret-project', name: 'payments' },
      status: { conditions: conditions.map(([type, status]) => ({ type, status })) },
    });
    const applications = [
      application(['Ready', 'True']),
      application(['Ready', 'True'], ['Paused', 'True']),
      application(['Ready', 'False'], ['Stalled', 'True']),
    ];
    const list = (kind: string) => applications.filter((resource) => resource.kind === kind);
    const registry = new Registry();
    registerResourceMetrics(registry, { list: list as unknown as ResourceStore['list'] });
    const expected = (ready: number) => [
      `tokenkeep_resource_condition{kind="Application",condition="Ready",status="True"} ${ready}`,
      'tokenkeep_resource_condition{kind="Application",condition="Ready",status="False"} 1',
      'tokenkeep_resource_condition{kind="Application",condition="Stalled",status="True"} 1',
      'tokenkeep_resource_condition{kind="Application",condition="Paused",status="True"} 1',
      'tokenkeep_resource_condition{kind="Tenant",condition="Ready",status="True"} 0',
    ];
    expect((await registry.metrics()).split('\n')).to.include.members(expected(2));
    applications.shift();
    const text = await registry.metrics();
    expect(text.split('\n')).to.include.members(expected(1));
    expect(text).not.to.include('secret-project');
  });

  it('tell why resources are not ready, as long as they are not', async () => {
    const resource = (kind: string, status: string, reason: string) => ({
      ...{ kind, metadata: { name: 'secret-project' } },
      status: { conditions: [{ type: 'Ready', status, reason }] },
    });
    const resources = [
      resource('Reactor', 'False', 'Degraded'),
      resource('Reactor', 'False', 'Degraded'),
      resource('Reactor', 'True', 'Reconciled'),
      resource('Application', 'Unknown', 'Reconciling'),
    ];
    const list = (kind: string) => resources.filter((each) => each.kind === kind);
    const registry = new Registry();
    registerResourceMetrics(registry, { list: list as unknown as ResourceStore['list'] });
    const found = async () => (await registry.metrics()).match(/^tokenkeep_resource_not_ready\{.*$/gm);
    expect(await found()).to.deep.equal(['tokenkeep_resource_not_ready{kind="Reactor",reason="Degraded"} 2']);
    resources.splice(0, 2);
    expect(await found()).to.equal(null);
  });
});
