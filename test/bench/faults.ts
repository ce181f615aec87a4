import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'mocha';
import { ACCESS_FAULTS, MASTER_KEY_FAULTS, NETWORK_FAULTS, SERVER_FAULTS } from '../support/faults/known-faults.ts';
import { readOn, type Fault } from '../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../support/faults/stage.ts';
import { startTestPostgres, stopTestPostgres } from '../support/postgres.ts';
import { stopTransitServer } from '../support/transit-server.ts';

// What callers of a vault notice of faults between it and its transit server, and for how long.

/** The vault's own setting for one try. */
const TIMEOUT_MS = 2_000;
const STRUCK_MS = 12_000;
const GIVE_UP_MS = 60_000;
const EVERY_MS = 10;

interface Measured {
  readonly name: string;
  readonly warmReads: number;
  readonly warmFailures: number;
  /** From the fault on; undefined where none was refused. */
  readonly firstRefusedMs: number | undefined;
  readonly longestRefusalMs: number;
  readonly degradedMs: number | undefined;
  /** From the mending on. */
  readonly firstServedMs: number | undefined;
  readonly allServedMs: number | undefined;
}

async function until(holds: () => Promise<boolean>, deadlineMs: number): Promise<number | undefined> {
  const start = performance.now();
  while (performance.now() - start < deadlineMs) {
    if (await holds()) return performance.now() - start;
    await delay(EVERY_MS);
  }
  return undefined;
}

/** Reads under cold keys for as long as the fault lasts. */
async function readCold(stage: FaultStage, lastsMs: number) {
  const start = performance.now();
  let firstRefusedMs: number | undefined;
  let longestRefusalMs = 0;
  while (performance.now() - start < lastsMs) {
    const sent = performance.now();
    const { status } = await stage.read(stage.cold);
    if (status === 503) {
      firstRefusedMs ??= performance.now() - start;
      longestRefusalMs = Math.max(longestRefusalMs, performance.now() - sent);
    }
    await delay(EVERY_MS);
  }
  return { firstRefusedMs, longestRefusalMs };
}

async function readiness({ vault }: FaultStage): Promise<'ready' | 'degraded' | 'not ready'> {
  const { status, body } = await vault.request('GET', '/readyz');
  if (status !== 200) return 'not ready';
  return (body as { degraded: unknown[] }).degraded.length > 0 ? 'degraded' : 'ready';
}

async function recovered(stage: FaultStage): Promise<boolean> {
  const [ready, read, created] = [await readiness(stage), await stage.read(stage.cold), await stage.create(stage.cold)];
  return ready === 'ready' && read.status === 200 && read.body.data === stage.cold.data && created.status === 201;
}

async function measure(stage: FaultStage, fault: Fault): Promise<Measured> {
  await stage.settle();
  await stage.chill(stage.cold);
  await delay(500);
  const reader = readOn(stage, stage.warm);
  await fault.strike(stage);
  const [cold, degradedMs] = await Promise.all([
    readCold(stage, STRUCK_MS),
    until(async () => (await readiness(stage)) !== 'ready', STRUCK_MS),
  ]);
  await fault.mend(stage);
  const [firstServedMs, allServedMs] = await Promise.all([
    until(async () => (await stage.read(stage.cold)).status === 200, GIVE_UP_MS),
    until(() => recovered(stage), GIVE_UP_MS),
  ]);
  const { reads, wrong } = await reader.stop();
  const { name } = fault;
  return { name, warmReads: reads, warmFailures: wrong.length, ...cold, degradedMs, firstServedMs, allServedMs };
}

const seconds = (ms: number | undefined): string => (ms === undefined ? 'never' : `${(ms / 1000).toFixed(2)} s`);

function renderRow(row: Measured): string {
  const cells = [
    row.name,
    `${row.warmReads - row.warmFailures} / ${row.warmFailures}`,
    seconds(row.firstRefusedMs),
    seconds(row.longestRefusalMs),
    seconds(row.degradedMs),
    seconds(row.firstServedMs),
    seconds(row.allServedMs),
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEADER = [
  ...['the transit server, its network, access to it, or its key …', 'warm reads right / not', 'first 503 of a cold'],
  ...['longest 503', 'degraded after', 'first served again', 'all served again'],
];

/** What is missing ends a measurement, where it would skip tests. */
const context = {
  timeout: () => undefined,
  skip: () => {
    throw new Error('OpenBao and toxiproxy are needed: make tools');
  },
} as unknown as Context;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

await startTestPostgres();
try {
  const stage = await startFaultStage({ ...(await requireFaultTools(context)), timeoutMs: TIMEOUT_MS });
  try {
    write(
      `One try takes ${TIMEOUT_MS} ms at most; each fault lasts ${STRUCK_MS / 1000} s. Load ${loadavg().join(' ')}`,
    );
    write(`| ${HEADER.join(' | ')} |`);
    write(`|${' --- |'.repeat(HEADER.length)}`);
    for (const fault of [...SERVER_FAULTS, ...NETWORK_FAULTS, ...ACCESS_FAULTS, ...MASTER_KEY_FAULTS]) {
      write(renderRow(await measure(stage, fault)));
    }
  } finally {
    await stage.stop();
  }
} finally {
  await stopTransitServer();
  await stopTestPostgres();
}
