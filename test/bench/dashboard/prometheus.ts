import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { findPrometheusProgram } from '../../support/metrics/promtool.ts';

/** Values of one series at the times asked for; NaN where it has none. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

export interface Range {
  /** In s since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

export interface ScrapedTarget {
  /** `host:port` */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A Prometheus of its own on a free port, with its data in a folder. */
export interface Prometheus {
  query(expression: string, range: Range): Promise<Series[]>;
  stop(): Promise<void>;
}

export async function startPrometheus(
  folder: string,
  { targets, scrapeSeconds }: { targets: readonly ScrapedTarget[]; scrapeSeconds: number },
): Promise<Prometheus> {
  const program = findPrometheusProgram('prometheus');
  if (program === undefined)
    throw new Error('prometheus is needed: install the package, or set TOKENKEEP_TEST_PROMETHEUS');
  const interval = `${scrapeSeconds}s`;
  const config = {
    global: { scrape_interval: interval, scrape_timeout: interval },
    scrape_configs: [
      {
        job_name: 'tokenkeep',
        static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })),
      },
    ],
  };
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, stringify(config));
  const port = await freePort();
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`];
  const child = spawn(program, [...flags, `--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const base = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (!(await fetch(`${base}/-/ready`)).ok) throw new Error('Prometheus is not ready');
  });
  return {
    async query(expression, { from, to, step }) {
      const parameters = new URLSearchParams({ query: expression, start: `${from}`, end: `${to}`, step: `${step}` });
      const answer = await fetch(`${base}/api/v1/query_range`, { method: 'POST', body: parameters });
      const body = (await answer.json()) as Answer;
      if (body.status !== 'success') throw new Error(`${expression}: ${body.error}`);
      const steps = Math.floor((to - from) / step) + 1;
      return body.data.result.map(({ metric, values }) => {
        const at = new Map(values.map(([time, value]) => [Math.round((time - from) / step), Number(value)]));
        return { labels: metric, values: Array.from({ length: steps }, (_, index) => at.get(index) ?? NaN) };
      });
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}

interface Answer {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
}
