import { loadavg } from 'node:os';
import type { Json } from '../../src/domain/json.ts';
import { evaluateTemplate } from '../../src/expressions/template.ts';
import type { HostileCase } from '../fixtures/expressions/hostile-case.ts';
import { HOSTILE } from '../fixtures/expressions/hostile.ts';
import type { HttpClient } from './http-client.ts';
import { median, quantile } from './load-loop.ts';
import { setStage } from './stage.ts';

// How long hostile expressions hold the event loop, and what a reader beside them notices.

const RUNS = 5;
const QUIET_MS = 3_000;

/**
 * CPU time of the thread is what the vault takes; elapsed time holds what the rest of the machine does meanwhile, too.
 */
interface Timing {
  outcome: string;
  medianCpuMs: number;
  maxCpuMs: number;
  maxMs: number;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function evaluateOnce({ template, data }: HostileCase): string {
  try {
    evaluateTemplate(template, { data });
    return 'value';
  } catch {
    return 'refused';
  }
}

/** The evaluation is one synchronous piece: as long as it takes, the event loop stands. The first run counts too. */
function timeCase(hostile: HostileCase): Timing {
  let outcome = '';
  const runs = Array.from({ length: RUNS }, () => {
    const [cpu, elapsed] = [threadCpuMs(), performance.now()];
    outcome = evaluateOnce(hostile);
    return { cpu: threadCpuMs() - cpu, elapsed: performance.now() - elapsed };
  });
  const cpu = runs.map((run) => run.cpu);
  return {
    outcome,
    medianCpuMs: median(cpu),
    maxCpuMs: Math.max(...cpu),
    maxMs: Math.max(...runs.map((run) => run.elapsed)),
  };
}

/** Reads one token again and again over one connection until it is stopped. */
function startReader(client: HttpClient, id: string) {
  const latencies: number[] = [];
  let isReading = true;
  const reading = (async () => {
    while (isReading) {
      const start = performance.now();
      await client.send('GET', `/tokens/${id}`, { status: 200 });
      latencies.push(performance.now() - start);
    }
  })();
  return {
    latencies,
    async stop() {
      isReading = false;
      await reading;
    },
  };
}

function describeLatencies(name: string, latencies: readonly number[]): string {
  const ascending = Float64Array.from(latencies).sort();
  const [p50, p99, max] = [0.5, 0.99, 1].map((part) => quantile(ascending, part).toFixed(2));
  return `${name.padEnd(34)} ${String(latencies.length).padStart(6)} reads   p50 ${p50} ms   p99 ${p99} ms   max ${max} ms`;
}

async function attack(client: HttpClient, template: Json, data: Json): Promise<number> {
  const body = { type: 'token', data, mask: template };
  for (const status of [201, 400]) {
    try {
      await client.send('POST', '/tokens', { status, body });
      return status;
    } catch (error) {
      const actual = / (\d{3}) /.exec((error as Error).message)?.[1];
      if (actual !== '400') return Number(actual);
    }
  }
  return 0;
}

const cases = Object.values(HOSTILE).flat();
console.log(`${cases.length} cases, load average ${loadavg()[0]!.toFixed(2)}\n`);
console.log(`${'case'.padEnd(52)} ${'outcome'.padEnd(8)} CPU median  CPU max  elapsed max, ms`);
const slowest: Timing[] = [];
for (const hostile of cases) {
  const timing = timeCase(hostile);
  slowest.push(timing);
  const [medianCpu, maxCpu, max] = [timing.medianCpuMs, timing.maxCpuMs, timing.maxMs].map((ms) => ms.toFixed(1));
  const figures = `${medianCpu!.padStart(10)} ${maxCpu!.padStart(8)} ${max!.padStart(12)}`;
  console.log(`${hostile.name.padEnd(52)} ${timing.outcome.padEnd(8)} ${figures}`);
}
const most = (of: (timing: Timing) => number): string =>
  `${Math.max(...slowest.map(of)).toFixed(1)} ms, over 100 ms: ${slowest.filter((timing) => of(timing) > 100).length}`;
console.log(`\nCPU at most ${most(({ maxCpuMs }) => maxCpuMs)}; elapsed at most ${most(({ maxMs }) => maxMs)}\n`);

await using stage = await setStage(1);
const victim = await stage.vault.send('POST', '/tokens', { status: 201, body: { type: 'token', data: 'victim' } });
const quiet = startReader(stage.vault, victim.id as string);
await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
await quiet.stop();
console.log(describeLatencies('a reader alone', quiet.latencies));

// Beside the attacks stand bodies of the same size that are no attacks: reading a megabyte takes time by itself.
for (const [name, templateOf] of [
  ['beside the same bodies as data', undefined],
  ['beside hostile expressions', (hostile: HostileCase): Json => hostile.template],
] as const) {
  const reader = startReader(stage.vault, victim.id as string);
  const statuses = new Map<number, number>();
  for (const hostile of cases) {
    const status =
      templateOf === undefined
        ? await attack(stage.vault, null, { template: hostile.template, data: hostile.data })
        : await attack(stage.vault, templateOf(hostile), hostile.data);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  await reader.stop();
  console.log(`${describeLatencies(name, reader.latencies)}   answers ${JSON.stringify([...statuses])}`);
}
