import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measure, type Subject } from './measure.ts';
import { startApi } from './reactors/api.ts';
import type { Contestant } from './reactors/contestant.ts';
import { layForkProgram, runInFork, startWarmFork } from './reactors/forks.ts';
import { CHECKOUT, type Program, runInNewChild, startInstance } from './reactors/instances.ts';
import { mebibytes, type Resident, residentBelow, residentOf } from './reactors/memory.ts';
import { buildPublished } from './reactors/published.ts';
import { renderSeries, renderTable, renderWarm, type Series } from './reactors/tables.ts';
import { checkAnswer, compileTask, type Task, TASKS } from './reactors/task.ts';
import { installWorkerd, startWorkerd } from './reactors/workerd.ts';

// What the walls around a reactor cost: the same function through them, called directly, in workerd and in forks.

const FULL = { rounds: 5, warmUpMs: 500, sliceMs: 1_000, maxOperations: 50_000 };
const QUICK = { rounds: 1, warmUpMs: 200, sliceMs: 300, maxOperations: 50_000 };
const MOST_AT_ONCE = Math.max(...TASKS.flatMap(({ concurrencies }) => concurrencies));

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const plan = values.quick ? QUICK : FULL;
const coldRuns = values.quick ? 3 : 15;
const [smallest] = TASKS as readonly [Task, ...Task[]];
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

const load = (): string =>
  loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');

/** Times `run` up to its answer; what it leaves to be ended ends before the next one begins. */
async function timed(name: string, run: (undo: AsyncDisposableStack) => Promise<unknown>): Promise<Series> {
  const runs: number[] = [];
  for (let index = 0; index < coldRuns; index += 1) {
    interrupted.signal.throwIfAborted();
    await using undo = new AsyncDisposableStack();
    const begun = performance.now();
    const answer = await run(undo);
    runs.push(performance.now() - begun);
    checkAnswer(answer, smallest);
  }
  return { name, runs };
}

async function measureWarm(contestants: readonly Contestant[], forkProgram: string, apiPid: number): Promise<void> {
  const direct = compileTask();
  const subjects = TASKS.flatMap((task) => {
    const { name: scenario, args } = task;
    const subject = (ceiling: string | null, concurrency: number, run: () => Promise<unknown>): Subject => ({
      ...{ scenario, ceiling, concurrency },
      operation: async () => checkAnswer(await run(), task),
    });
    return task.concurrencies.flatMap((concurrency) => [
      subject(null, concurrency, () => direct({ args, configuration: {} })),
      ...contestants.map(({ name, run }) => subject(name, concurrency, () => run(args))),
      subject('fork for each call', concurrency, () => runInFork(forkProgram, args)),
    ]);
  });
  const measurements = await measure(subjects, {
    ...{ ...plan, vaultPid: apiPid, signal: interrupted.signal },
    onRound: (round) => console.log(`round ${round} of ${plan.rounds}, load average ${load()}`),
  });
  console.log(`\n${renderWarm(measurements)}\n`);
}

/** The instance alone is below this process while it runs. */
async function instanceMemory(program: Program): Promise<{ idle: Resident[]; used: Resident[] }> {
  const before = new Set(residentBelow(process.pid).map(({ pid }) => pid));
  const mine = () => residentBelow(process.pid).filter(({ pid }) => !before.has(pid));
  await using instance = await startInstance(program, 1);
  await instance.run(smallest.args);
  const idle = mine();
  for (let call = 0; call < 500; call += 1) await instance.run(smallest.args);
  return { idle, used: mine() };
}

console.log(`${cpus()[0]?.model}, ${cpus().length} CPUs; load average ${load()}; Node ${process.version}`);
const binary = await installWorkerd();
if (binary === undefined) console.log('workerd has no binary for this platform: it is left out.');
await using published = await buildPublished();
const built: Program = { folder: published.folder, extension: '.js' };
await using forkProgram = await layForkProgram();
await using api = await startApi(MOST_AT_ONCE, coldRuns);

const cold: Series[] = [
  await timed('reactor: a new child with its isolate, as published', () => runInNewChild(built, smallest.args)),
  await timed('reactor: a new child with its isolate, from a checkout', () => runInNewChild(CHECKOUT, smallest.args)),
];
for (const [name, program] of [
  ['as published', built],
  ['from a checkout', CHECKOUT],
] as const) {
  const start = async (undo: AsyncDisposableStack): Promise<unknown> =>
    undo.use(await startInstance(program, 1)).run(smallest.args);
  cold.push(await timed(`reactor: a new instance, ${name}`, start));
}
cold.push(await timed('reactor: POST /react from zero, from a checkout', () => api.runFromZero(smallest)));
cold.push(await timed('fork for each call', () => runInFork(forkProgram.path, smallest.args)));
if (binary !== undefined) {
  const start = async (undo: AsyncDisposableStack): Promise<unknown> =>
    undo.use(await startWorkerd(binary)).run(smallest.args);
  cold.push(await timed('workerd: its process', start));
}

await using warm = new AsyncDisposableStack();
const workerd = binary === undefined ? undefined : warm.use(await startWorkerd(binary));
if (workerd) cold.push(await timed('workerd: a new isolate in it', () => workerd.runCold(smallest.args)));
console.log(`\n${renderSeries(cold)}\n`);

const memoryRow = (name: string, { rss, pss, own }: Resident) => [name, ...[rss, pss, own].map(mebibytes)];
const { idle, used } = await instanceMemory(built);
const warmFork = warm.use(startWarmFork(forkProgram.path));
await warmFork.run(smallest.args);
const rows = [
  ...idle.map((resident, index) => memoryRow(`reactor, idle: ${index === 0 ? 'supervisor' : 'child'}`, resident)),
  ...used.map((resident, index) => memoryRow(`after 500 calls: ${index === 0 ? 'supervisor' : 'child'}`, resident)),
  memoryRow('a fork', residentOf(warmFork.pid)),
  ...(workerd ? [memoryRow(`workerd, after ${coldRuns} isolates`, residentOf(workerd.pid))] : []),
];
console.log(`${renderTable(['Memory', 'RSS MiB', 'PSS MiB', 'its own MiB'], rows)}\n`);

const instance = warm.use(await startInstance(built, MOST_AT_ONCE));
await measureWarm([instance, api, ...(workerd ? [workerd] : []), warmFork], forkProgram.path, api.pid);
