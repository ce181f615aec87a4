import { firstLinkAhead, firstUnlinked, writersOf } from '../../data/log-audit.ts';
import type { Queryable } from '../../data/database.ts';
import { listHeads } from '../../data/log-heads.ts';
import { logHorizon } from '../../data/log-horizon.ts';
import { queueState, type QueueState } from '../../data/log-queue.ts';
import type { ChainHead } from '../../domain/audit-chain.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import { hourOf } from './chain.ts';
import { earlier, type Fault } from './faults.ts';
import { type ChainParts, type VerifiedChain, verifyChain } from './verify-chain.ts';

export interface VerifyOptions {
  readonly database: Queryable;
  readonly keyManagement: KeyManagement;
  /** Heads as the process's log tells them, by the hour of their chain. */
  readonly told?: ReadonlyMap<number, readonly ChainHead[]>;
  /** Called after each hour. */
  readonly onHour?: (hour: Date, soFar: Pick<Verification, 'links' | 'entries'>) => void;
}

export interface Verification {
  /** The first one; undefined where everything is as it was written. */
  readonly fault: Fault | undefined;
  readonly chains: number;
  readonly links: number;
  readonly entries: number;
  /** Links that no sealed head holds yet. */
  readonly unsealed: number;
  /** Entries that are gone with their tenants, by the tenant: that it was deleted, the database alone says. */
  readonly removed: ReadonlyMap<string, number>;
  /** Heads that another key management has sealed, as a keyring before an import: here a forged one looks the same. */
  readonly foreignHeads: number;
  /**
   * Chains whose end another writer has sealed, as after a kill; and of these the longest time from the last link to
   * the seal, in ms. Such a seal says how the chain was then, and not how its writer left it.
   */
  readonly sealedByOthers: { readonly chains: number; readonly latestMs: number };
  /** What is written and not linked yet. */
  readonly queue: QueueState;
  /** Entries before may be gone, by the tenants' retention. */
  readonly horizon: Date;
}

const HOUR_MS = 3_600_000;
/** How far ahead of the database's clock an hour may begin whose links are no fault: the clock may be set back. */
const AHEAD_TOLERANCE_MS = 600_000;
/** In one question for entries that no link holds: what Postgres compares at a time. */
const WINDOW_MS = 300_000;

/** Links of entries since the horizon are in no hour before this; the sweeper removes those of earlier hours. */
function floorOf(horizon: Date): Date {
  return new Date(hourOf(horizon).getTime() - HOUR_MS);
}

async function faultOfUnlinked({ database, horizon }: ChainParts, hour: Date): Promise<Fault | undefined> {
  const end = hour.getTime() + HOUR_MS;
  for (let from = Math.max(hour.getTime(), horizon.getTime()); from < end; from += WINDOW_MS) {
    const until = new Date(Math.min(from + WINDOW_MS, end));
    const entry = await firstUnlinked(database, { from: new Date(from), until });
    if (entry !== undefined) return { kind: 'unlinked', entry, detail: 'no link holds it', at: entry.createdAt };
  }
  return undefined;
}

/** Nobody looks into hours to come, and what the newest link says of how far back the log reaches is believed. */
async function faultOfAhead(database: Queryable): Promise<Fault | undefined> {
  const link = await firstLinkAhead(database, AHEAD_TOLERANCE_MS);
  if (link === undefined) return undefined;
  const { writer, hour, n } = link;
  return { kind: 'link added', chain: { writer, hour }, n, detail: 'its hour has not begun', at: hour };
}

/** Whether a code names another key management as its maker; who forges that gains what removing the head gains. */
function isForeign(mac: string, { name }: KeyManagement): boolean {
  const maker = /^(?:keyring|vault)(?=:)/.exec(mac)?.[0];
  return maker !== undefined && maker !== name;
}

interface VerifiedHour {
  readonly chains: readonly VerifiedChain[];
  readonly foreignHeads: number;
  readonly fault: Fault | undefined;
}

async function verifyChains(
  parts: ChainParts,
  hour: Date,
  told: readonly ChainHead[],
): Promise<Omit<VerifiedHour, 'fault'>> {
  // Heads before links: a chain that grows meanwhile has the links of every head that was read.
  const heads = await listHeads(parts.database, hour);
  const sealed = heads.filter(({ mac }) => !isForeign(mac, parts.keyManagement));
  const writers = new Set([...sealed, ...told].map(({ writer }) => writer));
  for (const writer of await writersOf(parts.database, hour)) writers.add(writer);
  const verified: VerifiedChain[] = [];
  for (const writer of [...writers].sort()) {
    const testimony = {
      sealed: sealed.filter((head) => head.writer === writer),
      told: told.filter((head) => head.writer === writer),
    };
    verified.push(await verifyChain(parts, { writer, hour }, testimony));
  }
  return { chains: verified, foreignHeads: heads.length - sealed.length };
}

async function verifyHour(parts: ChainParts, hour: Date, told: readonly ChainHead[]): Promise<VerifiedHour> {
  const { chains, foreignHeads } = await verifyChains(parts, hour, told);
  const inChains = chains.reduce<Fault | undefined>((first, { fault }) => earlier(first, fault), undefined);
  // What a link at fault has held is in no link: the link is to be named.
  const isLink = chains.some(({ fault }) => fault !== undefined && fault.entry === undefined);
  return { chains, foreignHeads, fault: isLink ? inChains : earlier(inChains, await faultOfUnlinked(parts, hour)) };
}

/** Whether what is missing may have been removed by the sweeper while it was looked for. */
function isPast({ entry, chain }: Fault, { horizon, floor }: ChainParts): boolean {
  return (entry !== undefined && entry.createdAt < horizon) || (chain !== undefined && chain.hour < floor);
}

/**
 * Walks the audit log hour by hour, the oldest first, and holds every entry against its link, every link against its
 * chain, every chain against its heads. Ends with the first hour in which there is a fault, with its earliest one.
 * Takes memory for some links, however long the log is, and may run beside the vault.
 */
export async function verifyAuditChain(options: VerifyOptions): Promise<Verification> {
  const { database, keyManagement, told = new Map<number, readonly ChainHead[]>(), onHour } = options;
  const partsNow = async (): Promise<ChainParts> => {
    const horizon = await logHorizon(database);
    return { database, keyManagement, horizon, floor: floorOf(horizon) };
  };
  const queue = await queueState(database);
  const first = await partsNow();
  const sum = { chains: 0, links: 0, entries: 0, unsealed: 0, foreignHeads: 0 };
  const sealedByOthers = { chains: 0, latestMs: 0 };
  const removed = new Map<string, number>();
  let parts = first;
  let fault: Fault | undefined;
  const end = queue.now.getTime() + AHEAD_TOLERANCE_MS;
  for (let time = first.floor.getTime(); time <= end && fault === undefined; time += HOUR_MS) {
    const hour = new Date(time);
    let verified = await verifyHour(parts, hour, told.get(time) ?? []);
    if (verified.fault !== undefined) {
      parts = await partsNow();
      if (isPast(verified.fault, parts)) verified = await verifyHour(parts, hour, told.get(time) ?? []);
    }
    fault = verified.fault;
    for (const chain of verified.chains) {
      sum.chains += 1;
      sum.links += chain.links;
      sum.entries += chain.entries;
      sum.unsealed += chain.unsealed;
      if (chain.sealedLateMs !== undefined) {
        sealedByOthers.chains += 1;
        sealedByOthers.latestMs = Math.max(sealedByOthers.latestMs, chain.sealedLateMs);
      }
      for (const [tenantId, count] of chain.removed) removed.set(tenantId, (removed.get(tenantId) ?? 0) + count);
    }
    sum.foreignHeads += verified.foreignHeads;
    onHour?.(hour, sum);
  }
  fault ??= await faultOfAhead(database);
  return { fault, ...sum, sealedByOthers, removed, queue, horizon: first.horizon };
}
