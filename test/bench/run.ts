import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measure, type Subject } from './measure.ts';
import type { Scenario } from './scenario.ts';
import { bulkDetokenizeScenario } from './scenarios/bulk-detokenize.ts';
import { bulkTokenizeScenario } from './scenarios/bulk-tokenize.ts';
import { createScenario } from './scenarios/create.ts';
import { reactScenario } from './scenarios/react.ts';
import { revealScenario } from './scenarios/reveal.ts';
import { setStage, type Stage } from './stage.ts';
import { renderMeasurements } from './table.ts';

const CONCURRENCIES = [1, 16];
const FULL = { rounds: 5, warmUpMs: 150, sliceMs: 450, maxOperations: 50_000 };
const QUICK = { rounds: 1, warmUpMs: 100, sliceMs: 300, maxOperations: 50_000 };

function subjectsOf({ name, ours, ceilings }: Scenario): Subject[] {
  return CONCURRENCIES.flatMap((concurrency) => [
    { scenario: name, ceiling: null, concurrency, operation: ours },
    ...ceilings.map(({ name: ceiling, operation }) => ({ scenario: name, ceiling, concurrency, operation })),
  ]);
}

async function prepare(stage: Stage): Promise<Scenario[]> {
  return [
    createScenario(stage),
    await revealScenario(stage),
    bulkTokenizeScenario(stage),
    await bulkDetokenizeScenario(stage),
    await reactScenario(stage),
  ];
}

function load(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

console.log('Rate limits are off: the tenant is unlimited, and addresses are not counted.');
console.log(`${cpus().length} CPUs shared by loader, program and Postgres; load average ${load()}`);
await using stage = await setStage(Math.max(...CONCURRENCIES));
const scenarios = await prepare(stage);
const plan = values.quick ? QUICK : FULL;
const measurements = await measure(scenarios.flatMap(subjectsOf), {
  ...plan,
  vaultPid: stage.vaultPid,
  signal: interrupted.signal,
  onRound: (round) => console.log(`round ${round} of ${plan.rounds}, load average ${load()}`),
});
console.log(`\n${renderMeasurements(measurements)}`);
