import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isWrite, readAuditLog, userOf, type AuditedRequest } from '../../support/kubernetes/audit-log.ts';

export const OPERATOR_ACCOUNT = 'tokenkeep-system/tokenkeep-operator';

/** Reconciling has come to rest once it has been for so long. */
const REST_MS = 3_000;
const LOOK_EVERY_MS = 100;
const MEMORY_SAMPLES = 40;
const SAMPLE_EVERY_MS = 250;

/** The sum of a metric over all its series; 0 where there is none. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(url)).text();
  const series = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Waits for the last reconciliation to end; resolves with when that was, in ms of `performance.now()`. */
export async function reconciledAt(metricsUrl: string): Promise<number> {
  let count = -1;
  let since = performance.now();
  for (;;) {
    const now = await readMetric(metricsUrl, 'controller_runtime_reconcile_total').catch(() => -1);
    if (now !== count) {
      count = now;
      since = performance.now();
    } else if (count > 0 && performance.now() - since > REST_MS) {
      return since;
    }
    await delay(LOOK_EVERY_MS);
  }
}

export interface Memory {
  readonly rssBytes: number;
  readonly heapBytes: number;
}

/** At rest: the least of some seconds, so that what the collector would take does not count. */
export async function memoryAtRest(pid: number, metricsUrl: string): Promise<Memory> {
  let [rssBytes, heapBytes] = [Infinity, Infinity];
  for (let sample = 0; sample < MEMORY_SAMPLES; sample++) {
    rssBytes = Math.min(rssBytes, await statusOf(pid, 'VmRSS'));
    heapBytes = Math.min(heapBytes, await readMetric(metricsUrl, 'nodejs_heap_size_used_bytes'));
    await delay(SAMPLE_EVERY_MS);
  }
  return { rssBytes, heapBytes };
}

/** The most that the process ever had resident. */
export function peakMemory(pid: number): Promise<number> {
  return statusOf(pid, 'VmHWM');
}

async function statusOf(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}

/** What the operator has asked of the API server since the mark before. */
export interface RequestCounts {
  /** By what was asked: `patch applications/status`. */
  readonly byAction: ReadonlyMap<string, number>;
  readonly total: number;
  /** Without leases. */
  readonly writes: number;
  readonly refused: number;
}

/** Counts an operator's requests in the API server's own log, from one call to the next. */
export function createRequestCounter(auditLog: string): () => Promise<RequestCounts> {
  const user = userOf(OPERATOR_ACCOUNT);
  let counted = 0;
  return async () => {
    const all = (await readAuditLog(auditLog)).filter((request) => request.user === user);
    const requests = all.slice(counted);
    counted = all.length;
    const byAction = new Map<string, number>();
    for (const request of requests) byAction.set(labelOf(request), (byAction.get(labelOf(request)) ?? 0) + 1);
    return {
      byAction: new Map([...byAction].sort(([, a], [, b]) => b - a)),
      total: requests.length,
      writes: requests.filter((request) => isWrite(request) && !request.uri.includes('/leases')).length,
      refused: requests.filter(({ code }) => code >= 400).length,
    };
  };
}

function labelOf({ action, verb, uri }: AuditedRequest): string {
  return action ?? `${verb} ${uri.split('?')[0]}`;
}
