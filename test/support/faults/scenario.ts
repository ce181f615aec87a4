import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import type { Answer } from '../vault.ts';
import type { FaultStage, Kept } from './stage.ts';

/** Something that keeps a vault from its master keys. */
export interface Fault {
  readonly name: string;
  readonly strike: (stage: FaultStage) => Promise<void> | void;
  /** Ends it. Everything must then be as before, without a restart of the vault. */
  readonly mend: (stage: FaultStage) => Promise<void> | void;
  /** What an operator reads of it in the log. */
  readonly logged: RegExp;
}

export const WENT_DOWN = 'Key management cannot be used; only data keys that are in memory serve, for a while';
export const CAME_BACK = 'Key management can be used again';

const TEST_TIMEOUT_MS = 240_000;
const PATIENCE = { deadlineMs: 60_000, everyMs: 50 };
const READ_EVERY_MS = 20;

/** Reads one token again and again. */
export function readOn(stage: FaultStage, kept: Kept) {
  const wrong: unknown[] = [];
  let [reads, stopped] = [0, false];
  const loop = (async () => {
    while (!stopped) {
      try {
        const { status, body } = await stage.read(kept);
        if (status !== 200 || body.data !== kept.data) wrong.push({ status, body: body as unknown });
      } catch (error) {
        wrong.push(error);
      }
      reads++;
      await delay(READ_EVERY_MS);
    }
  })();
  return {
    /** How many were read, and each answer that was not the plaintext that was written. */
    async stop() {
      stopped = true;
      await loop;
      return { reads, wrong };
    },
  };
}

/** Of what a tenant has in the database: whatever a request leaves behind is counted. */
async function footprint(stage: FaultStage, { tenantId }: Kept): Promise<object> {
  const counts: Record<string, number> = {};
  for (const table of ['tokens', 'logs', 'data_keys', 'idempotent_answers', 'token_search_hashes']) {
    const text = `select count(*)::int as count from ${table} where tenant_id = $1`;
    const [row] = await stage.vault.database.run<{ count: number }>({ text }, [tenantId]);
    counts[table] = row!.count;
  }
  return counts;
}

/** 503 with a problem body that says what a caller may know, and no more. */
export function expectUnavailable(answer: Answer): void {
  expect(answer.status).to.equal(503);
  expect(answer.headers.get('content-type')).to.include('application/problem+json');
  expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
  const { type, title, status, detail, instance, ...rest } = answer.body as Record<string, unknown>;
  expect({ type, title, status, detail, rest }).to.deep.equal({
    ...{ type: 'about:blank', title: 'Service Unavailable', status: 503, rest: {} },
    detail: 'Key management is unavailable: what needs a key that is not in memory cannot be done now.',
  });
  expect(instance).to.be.a('string');
}

async function gauge(stage: FaultStage): Promise<number | undefined> {
  const metric = stage.vault.metrics.registry.getSingleMetric('tokenkeep_key_management_up');
  return (await metric!.get()).values[0]?.value;
}

async function expectRefusals(stage: FaultStage): Promise<void> {
  const { vault, cold } = stage;
  // Its keys may have been in memory for some of the first reads.
  await eventually(async () => expectUnavailable(await stage.read(cold)), PATIENCE);
  const before = await footprint(stage, cold);
  expectUnavailable(await stage.create(cold));
  expectUnavailable(await stage.create(cold, randomUUID()));
  expectUnavailable(await stage.read(cold));
  const patch = { key: cold.key, body: { data: 'changed-meanwhile' } };
  expectUnavailable(await vault.request('PATCH', `/tokens/${cold.id}`, patch));
  expect(await footprint(stage, cold)).to.deep.equal(before);
}

async function expectDegraded(stage: FaultStage): Promise<void> {
  const { vault } = stage;
  await eventually(async () => {
    const { status, body } = await vault.request('GET', '/readyz');
    const expected = { status: 'ready', failures: [], degraded: ['key-management'] };
    expect([status, body]).to.deep.equal([200, expected]);
  }, PATIENCE);
  expect((await vault.request('GET', '/healthz')).status).to.equal(200);
  expect(await gauge(stage)).to.equal(0);
}

/** One test: what is warm serves on, what is cold is refused without effect, and all heals by itself. */
export function itOutlives(fault: Fault, stageOf: () => FaultStage): void {
  it(fault.name, async function () {
    this.timeout(TEST_TIMEOUT_MS);
    const stage = stageOf();
    await stage.settle();
    await stage.chill(stage.cold);
    stage.takeLog();
    const reader = readOn(stage, stage.warm);
    try {
      try {
        await fault.strike(stage);
        await expectRefusals(stage);
        await expectDegraded(stage);
      } finally {
        await fault.mend(stage);
      }
      await stage.settle();
      expect((await stage.create(stage.cold)).status).to.equal(201);
      expect(await gauge(stage)).to.equal(1);
    } finally {
      await reader.stop();
    }
    const { reads, wrong } = await reader.stop();
    expect(wrong, 'answers to reads under warm keys').to.deep.equal([]);
    expect(reads).to.be.above(0);

    const told = stage.takeLog().filter(({ message }) => message === WENT_DOWN || message === CAME_BACK);
    expect(told.map(({ message }) => message)).to.deep.equal([WENT_DOWN, CAME_BACK]);
    expect(told[0]!.text).to.match(fault.logged);
  });
}
