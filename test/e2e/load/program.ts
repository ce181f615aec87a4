import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadLine, LoadReport, LoadSettings } from './load.ts';

// What a client sees, as a process of the node: settings come by standard input, whose end ends it. Lines of JSON go
// out: how it goes, and at the end a report.

const SHOWN = 5;
const TIMEOUT_MS = 15_000;
const SLOW_MS = 1_000;
/** Until the load is whole: a vault that nobody called for a while has to open its connections first. */
const RISE_MS = 5_000;
const TOLD_EVERY_MS = 100;
/** Reads of what was acknowledged, at a time. */
const CHECKED_AT_ONCE = 8;
/** In all. One that is not answered is made again: an address that has asked too often is refused for 30 s. */
const CHECKED_WITHIN_MS = 120_000;

const input = process.stdin.setEncoding('utf8');
const settings = JSON.parse(await firstLine()) as LoadSettings;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const acknowledged: { id: string; data: string }[] = [];
const failures: string[] = [];
const taken: { ms: number; second: string; what: string }[] = [];
/** Those that had no place among the ones in flight. */
let dropped = 0;
let succeededAt = performance.now();
/** The longest time without any success: in all, and since it was last told. */
let outageMs = 0;
let untoldOutageMs = 0;
let ending = false;
input.once('end', () => (ending = true));

interface Answer {
  readonly status: number;
  readonly body: string;
}

function send(method: string, path: string, body?: object): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = { 'SVC-API-KEY': settings.key, 'content-type': 'application/json' };
  const call = request(`${settings.url}${path}`, { method, agent, headers, timeout: TIMEOUT_MS }, (answer) => {
    text(answer).then((content) => resolve({ status: answer.statusCode ?? 0, body: content }), reject);
  });
  call.on('timeout', () => call.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
  call.on('error', reject);
  call.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

/** Undefined: it failed, which is written down. */
async function measured(method: string, path: string, body?: object): Promise<string | undefined> {
  const begun = performance.now();
  const at = new Date().toISOString();
  try {
    const answer = await send(method, path, body);
    if (answer.status < 300) {
      noteOutage();
      succeededAt = performance.now();
      return answer.body;
    }
    failures.push(`${at} ${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)}`);
  } catch (error) {
    failures.push(`${at} ${method} ${path}: ${String(error)}`);
  } finally {
    const what = `${method} /${path.split('/')[1]}`;
    taken.push({ ms: Math.round(performance.now() - begun), second: at.slice(11, 19), what });
  }
  return undefined;
}

function noteOutage(): void {
  const ms = Math.round(performance.now() - succeededAt);
  outageMs = Math.max(outageMs, ms);
  untoldOutageMs = Math.max(untoldOutageMs, ms);
}

function write(line: LoadLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function tell(): void {
  noteOutage();
  const [requests, failed] = [taken.length, failures.length];
  write({ progress: { requests, failed, acknowledged: acknowledged.length, outageMs: untoldOutageMs } });
  untoldOutageMs = 0;
}

async function create(): Promise<void> {
  const data = `load ${taken.length} ${Math.random()}`;
  const body = await measured('POST', '/tokens', { type: 'token', data });
  if (body !== undefined) acknowledged.push({ id: (JSON.parse(body) as { id: string }).id, data });
}

async function read(): Promise<void> {
  const token = acknowledged[Math.floor(Math.random() * acknowledged.length)];
  if (token !== undefined) await measured('GET', `/tokens/${token.id}`);
}

/**
 * Begins one each time, whether or not the last one has ended, so that a server that hesitates gets no less to do; but
 * no more than `most` at once, which later would all come at a time and be refused as too many.
 */
async function every(ms: number, most: number, act: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  const running = new Set<Promise<void>>();
  while (!ending) {
    if (running.size < most) {
      const one = act().finally(() => running.delete(one));
      running.add(one);
    } else dropped += 1;
    const risen = Math.min(1, (performance.now() - begun) / RISE_MS);
    await delay(ms * (10 - 9 * risen));
  }
  await Promise.all(running);
}

async function invoke(): Promise<void> {
  const { reactorId, callers = 1 } = settings;
  const caller = async (): Promise<void> => {
    while (!ending) await measured('POST', `/reactors/${reactorId}/react`, { args: {} });
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Throws where nobody says whether it is there, however often asked. */
async function isThere({ id, data }: { id: string; data: string }, deadline: number): Promise<boolean> {
  for (;;) {
    const answer = await send('GET', `/tokens/${id}`).catch((error: unknown) => ({ status: 0, body: String(error) }));
    if (answer.status === 200) return (JSON.parse(answer.body) as { data: string }).data === data;
    if (answer.status === 404) return false;
    const given = `${answer.status} ${answer.body.slice(0, 200)}`;
    if (performance.now() > deadline) throw new Error(`whether token ${id} is there is not known: ${given}`);
    await delay(1_000);
  }
}

/** How many of those that were acknowledged are not there, or are not what was given. */
async function countLost(): Promise<number> {
  const deadline = performance.now() + CHECKED_WITHIN_MS;
  const left = [...acknowledged];
  let lost = 0;
  const checker = async (): Promise<void> => {
    for (let token = left.pop(); token !== undefined; token = left.pop()) {
      if (!(await isThere(token, deadline))) lost += 1;
      // Below the limit of requests of one address.
      await delay(80);
    }
  };
  await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, checker));
  return lost;
}

function slowOnes(): string[] {
  const slow = taken.filter(({ ms }) => ms > SLOW_MS);
  const groups = Map.groupBy(slow, ({ second, what }) => `${second} ${what}`);
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, ones]) => `${name}: ${ones.length}, up to ${Math.max(...ones.map(({ ms }) => ms))} ms`);
}

function firstLine(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = '';
  input.on('data', (chunk: string) => {
    received += chunk;
    if (received.includes('\n')) resolve(received.slice(0, received.indexOf('\n')));
  });
  return promise;
}

const telling = setInterval(tell, TOLD_EVERY_MS);
if (settings.reactorId === undefined) await Promise.all([every(60, 8, create), every(20, 16, read)]);
else await invoke();
clearInterval(telling);
tell();
taken.sort((one, other) => other.ms - one.ms);
const report: LoadReport = {
  requests: taken.length,
  failed: failures.length,
  failures: failures.slice(0, SHOWN),
  dropped,
  acknowledged: acknowledged.length,
  lost: await countLost(),
  p99Ms: taken[Math.floor(taken.length * 0.01)]?.ms ?? 0,
  maxMs: taken[0]?.ms ?? 0,
  outageMs,
  slow: slowOnes(),
};
write({ report });
agent.destroy();
