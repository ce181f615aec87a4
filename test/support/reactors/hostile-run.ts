import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../../src/domain/json.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';
import { until } from '../reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../reactors.ts';
import { HOSTILE_CORPUS } from './hostile-corpus.ts';
import type { HostileReactor } from './hostile/types.ts';
import { childrenOf, memoryOf, MemoryWatch } from './process-memory.ts';

/** Wall time of every hostile invocation. */
export const WALL_MS = 1_000;
export const INSTANCE_MB = 256;
export const SECRET = 'canary-4111111111111111-of-another-request';

/** What came of one hostile reactor. */
export interface Observation {
  group: string;
  reactor: HostileReactor;
  outcome: InvocationOutcome;
  /** From when an instance was there for it to its answer, at the client. */
  ms: number;
  /** Of the process of the code, in MB. */
  residentMb: number;
  /** The answer of the same instance to a good request afterwards. */
  next: InvocationOutcome;
}

export interface HostileRun {
  observations: Observation[];
  /** What a good request to a hostile reactor answers before anything has happened. */
  untouched: InvocationOutcome;
  /** The well-behaved reactor beside them. */
  good: { answers: number; failures: InvocationOutcome[]; slowestMs: number };
  /** Of the processes of hostile code, in MB: the kernel's own high-water mark. */
  peakMb: number;
  /** Of the processes that watch over them, in MB. */
  supervisorPeakMb: number;
  /** Of supervisor and code together, in MB, without the program text that they share. */
  instanceMb: number;
  /** Supervisors that ended, which none should. */
  supervisorsLost: number;
}

/** How many of them run at a time. */
const LANES = 3;
const PAUSE_MS = 5;
/** Longer than what a request that was left behind waits for. */
const AFTERMATH_MS = 90;

/**
 * Runs what it is given; asked for nothing, it tells what its world looks like: every name on every built-in with the
 * kind of its value (a number may be a time), and what the language remembers by itself. Two requests that differ in it have seen each other.
 */
const HOSTILE = `let leak;
const AsyncFunction = (async () => {}).constructor;
const shape = (one) => Reflect.ownKeys(one).map((key) => {
  const { value, get, set, writable } = Reflect.getOwnPropertyDescriptor(one, key);
  const text = typeof value === 'function' ? Function.prototype.toString.call(value) : ['object', 'number'].includes(typeof value) ? typeof value : String(value);
  return [String(key), text, String(get), String(set), writable];
});
const world = async ({ waitMs }) => {
  const all = Object.getOwnPropertyNames(globalThis).map((name) => globalThis[name]);
  const things = all.filter((one) => one !== globalThis && (typeof one === 'function' || (typeof one === 'object' && one !== null)));
  const modules = ['crypto', 'url', 'util', 'events', 'buffer', 'uuid', '@tokenkeep/errors'].map((name) => require(name));
  const iterator = Object.getPrototypeOf([][Symbol.iterator]());
  const seen = [globalThis, ...things, ...things.map((one) => one.prototype).filter(Boolean), ...modules, require, iterator]
    .map((one) => [shape(one), Object.isFrozen(one)]);
  await new Promise((to) => setTimeout(to, waitMs));
  const left = [typeof leak, leak, globalThis[Symbol.for('leak')], ({}).leak, RegExp.$1, RegExp.lastMatch, Error.stackTraceLimit];
  const hash = require('crypto').createHash('sha256').update(JSON.stringify([seen, ...left])).digest('hex');
  return { raw: { left: left.map(String), hash } };
};
module.exports = (req) => req.args.body ? new AsyncFunction('req', 'require', req.args.body)(req, require) : world(req.args);`;

/** Runs the whole corpus through client, supervisor and process, beside a reactor that goes on being invoked. */
export async function runHostileCorpus(reactors: ReactorHarness): Promise<HostileRun> {
  const silent = await startSilentApi();
  const good = await reactors.deploy('module.exports = async (req) => ({ raw: { sum: req.args.a + req.args.b } })');
  const lanes: Lane[] = [];
  for (let lane = 0; lane < LANES; lane += 1) lanes.push(await openLane(reactors));

  const untouched = await lanes[0]!.reactor.invoke({ waitMs: AFTERMATH_MS });
  const queue = Object.entries(HOSTILE_CORPUS).flatMap(([group, all]) => all.map((reactor) => ({ group, reactor })));
  const observations: Observation[] = [];
  const traffic = startTraffic(good);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        observations.push({ ...next, ...(await attack(lane, next.reactor, silent.url)) });
      }
    }),
  );
  const answered = await traffic.stop();
  silent.close();
  for (const { watch } of lanes) watch.stop();
  return {
    observations,
    untouched,
    good: answered,
    peakMb: Math.max(...lanes.map(({ watch }) => watch.peakMb)),
    supervisorPeakMb: Math.max(...lanes.map(({ supervisor }) => memoryOf(supervisor)?.peakMb ?? 0)),
    instanceMb: Math.max(...lanes.map(({ watch }) => watch.ownMb)),
    supervisorsLost: lanes.filter(({ supervisor }) => memoryOf(supervisor) === undefined).length,
  };
}

interface Lane {
  reactor: DeployedReactor;
  supervisor: number;
  watch: MemoryWatch;
}

async function openLane(reactors: ReactorHarness): Promise<Lane> {
  const before = new Set(childrenOf(process.pid));
  const reactor = await reactors.deploy(HOSTILE, {
    // The good requests between may take their time; those that attack say how long they may.
    timeoutSeconds: 10,
    memoryBytes: INSTANCE_MB * 2 ** 20,
  });
  const supervisor = childrenOf(process.pid).find((pid) => !before.has(pid))!;
  return { reactor, supervisor, watch: new MemoryWatch(supervisor) };
}

async function attack(
  { reactor, watch }: Lane,
  { body, svc }: HostileReactor,
  baseUrl: string,
): Promise<Omit<Observation, 'group' | 'reactor'>> {
  watch.take();
  // What came before may have left the process too full: the next one takes its time to start.
  let begun = 0;
  const begin = async (): Promise<boolean> => {
    begun = performance.now();
    return true;
  };
  const access = { baseUrl, headerPrefix: 'SVC', key: 'key' };
  const options = { timeoutMs: WALL_MS, begin, ...(svc ? { svc: access } : {}) };
  const outcome = await reactor.invoke({ body, secret: SECRET }, options);
  const ms = performance.now() - begun;
  const residentMb = watch.take();
  return { outcome, ms, residentMb, next: await reactor.invoke({ waitMs: AFTERMATH_MS }) };
}

interface Traffic {
  stop(): Promise<HostileRun['good']>;
}

function startTraffic(good: DeployedReactor): Traffic {
  const seen: HostileRun['good'] = { answers: 0, failures: [], slowestMs: 0 };
  let over = false;
  const running = (async () => {
    for (let a = 0; !over; a += 1) {
      const begun = performance.now();
      const outcome = await good.invoke({ a, b: 1 });
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - begun);
      if (JSON.stringify(outcome) === JSON.stringify({ kind: 'returned', raw: { sum: a + 1 } })) seen.answers += 1;
      else seen.failures.push(outcome);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    async stop() {
      over = true;
      await running;
      return seen;
    },
  };
}

/** Takes requests and never answers them. */
async function startSilentApi(): Promise<{ url: string; close: () => void }> {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await until(() => server.listening);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** One word for an outcome, for tables; of a result only that there was one. */
export function wordOf(outcome: InvocationOutcome): string {
  return outcome.kind === 'threw' ? `threw ${outcome.status}` : outcome.kind;
}

/** What a hostile reactor returned, undefined where it returned nothing. */
export function rawOf(outcome: InvocationOutcome): Json | undefined {
  return outcome.kind === 'returned' ? outcome.raw : undefined;
}
