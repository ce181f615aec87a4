import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ROWS } from '../../config/dashboard/panels.ts';
import type { Query } from '../../config/dashboard/queries.ts';
import { CallbackReceiver } from '../support/callback-receiver.ts';
import { createStandaloneFolder, UNLIMITED_TENANT } from '../support/standalone-folder.ts';
import { SAMPLES, startStandalone } from '../support/standalone.ts';
import { drawDashboard, type DrawnLine, type DrawnRow } from './dashboard/draw.ts';
import { startLoad } from './dashboard/load.ts';
import { startLoadedPod } from './dashboard/pod.ts';
import { startPrometheus, type Prometheus, type Range } from './dashboard/prometheus.ts';

// Asks a real Prometheus, which has read a real vault at work, what the chart's dashboard asks, and draws the answers
// into docs/images/dashboard.svg: Grafana itself is not needed to see whether every panel shows what it says.

const SECONDS = Number(process.argv[2] ?? 120);
const SCRAPE_SECONDS = 2;
/** Of Grafana's: four scrapes. */
const RATE_INTERVAL = '8s';
/** What the chart's PodMonitor keeps of the labels of a pod. */
const OF_POD = { tokenkeep_dev_reactor_id: '7c01d9c2-3c5e-4f0e-9d52-0b6a7a1f2b11' };
const FILE = fileURLToPath(new URL('../../docs/images/dashboard.svg', import.meta.url));

async function ask(prometheus: Prometheus, { expr, legend }: Query, range: Range): Promise<DrawnLine[]> {
  const filledIn = expr.replaceAll('$__rate_interval', RATE_INTERVAL).replaceAll('$namespace', '.*');
  const series = await prometheus.query(filledIn, range);
  return series.map(({ labels, values }) => ({
    legend: legend.replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => labels[label] ?? ''),
    values,
  }));
}

async function answer(prometheus: Prometheus, range: Range): Promise<DrawnRow[]> {
  const rows: DrawnRow[] = [];
  for (const { title, panels } of ROWS) {
    const drawn = [];
    for (const { title, unit, queries } of panels) {
      const lines = (await Promise.all(queries.map((query) => ask(prometheus, query, range)))).flat();
      drawn.push({ title, unit, lines });
    }
    rows.push({ title, panels: drawn });
  }
  return rows;
}

const scratch = await mkdtemp(join(tmpdir(), 'tokenkeep-dashboard-'));
const folder = await createStandaloneFolder(SAMPLES);
await folder.write('tenant.yaml', [UNLIMITED_TENANT]);
const receiver = await CallbackReceiver.start();
const flags = ['--ip-rate-limits', 'off', '--callback-http-hosts', receiver.host];
const vault = await startStandalone({ ...folder, flags });
const pod = await startLoadedPod(scratch);
const target = (address: string, instance: string, more = {}) => ({
  address,
  labels: { instance, pod: instance, ...more },
});
const prometheus = await startPrometheus(scratch, {
  targets: [target(new URL(vault.metricsUrl).host, 'vault'), target(pod.metrics, 'reactor-7c01', OF_POD)],
  scrapeSeconds: SCRAPE_SECONDS,
});
const [payments, admin] = [await vault.keyOf('payments'), await vault.keyOf('admin')];
const listed = await vault.request('GET', '/reactors', { key: admin });
const [{ id: reactorId }] = (listed.body as { data: [{ id: string }] }).data;
const load = startLoad(vault, { payments, admin }, { reactorId, callbackUrl: receiver.url('callbacks') });
await delay(SECONDS * 1_000);
const to = Math.floor(Date.now() / 1_000);
const rows = await answer(prometheus, { from: to - SECONDS, to, step: SCRAPE_SECONDS });
await writeFile(FILE, drawDashboard('Tokenkeep', rows));
for (const { title, panels } of rows) {
  for (const panel of panels) console.log(`${title} / ${panel.title}: ${panel.lines.length} series`);
}
await load.stop();
await prometheus.stop();
await pod.stop();
await vault.stop();
await receiver.stop();
await folder.dispose();
await rm(scratch, { recursive: true });
