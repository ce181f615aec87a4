import type { Queryable } from '../../src/data/database.ts';
import { insertHead } from '../../src/data/log-heads.ts';
import { insertLink } from '../../src/data/log-links.ts';
import { insertLogs } from '../../src/data/logs.ts';
import type { ChainHead, ChainLink, SealedHead } from '../../src/domain/audit-chain.ts';
import type { LogEntry } from '../../src/domain/logs.ts';
import type { KeyManagement } from '../../src/keys/key-management.ts';
import { digestOfEntry, messageOfHead } from '../../src/services/audit-chain/canonical.ts';
import { createChain, hourOf } from '../../src/services/audit-chain/chain.ts';
import { newLog, storedTenant } from './rows.ts';

const HOUR_MS = 3_600_000;

/** A log as some processes have written, linked and anchored it over the hours up to now. */
export interface AuditHistory {
  readonly writers: readonly string[];
  /** The beginnings of its hours, the last one the present hour. */
  readonly hours: readonly Date[];
  /** Oldest first. */
  readonly links: readonly ChainLink[];
  /** In the order of the links. */
  readonly entries: readonly LogEntry[];
  readonly heads: readonly SealedHead[];
}

export interface HistorySize {
  writers?: number;
  hours?: number;
  /** Of each writer in each hour. */
  links?: number;
  entriesPerLink?: number;
}

/** Seals a head as a process does. */
export async function sealHead(keyManagement: KeyManagement, head: ChainHead, sealedBy: string): Promise<SealedHead> {
  const unauthenticated = { ...head, sealedBy, anchoredAt: new Date() };
  return { ...unauthenticated, mac: await keyManagement.authenticate(messageOfHead(unauthenticated)) };
}

/** Stores a whole history; each chain's end is sealed, and each first link states the ends of all chains before. */
export async function writeHistory(
  database: Queryable,
  keyManagement: KeyManagement,
  { writers = 2, hours = 3, links: perHour = 3, entriesPerLink = 3 }: HistorySize = {},
): Promise<AuditHistory> {
  const tenantId = await storedTenant(database);
  const present = hourOf(new Date());
  const times = Array.from(
    { length: hours },
    (_, index) => new Date(present.getTime() - (hours - 1 - index) * HOUR_MS),
  );
  await database.run({ text: 'update log_horizon set oldest = $1' }, [new Date(times[0]!.getTime() - HOUR_MS)]);
  const chains = Array.from({ length: writers }, () => createChain());
  const history = { links: [] as ChainLink[], entries: [] as LogEntry[], heads: [] as SealedHead[] };
  for (const hour of times) {
    const ends = chains.flatMap(({ head }) => head ?? []);
    for (let n = 0; n < perHour; n++) {
      for (const [index, chain] of chains.entries()) {
        // All within the first minute of the hour: the present hour's may lie ahead by less than that.
        const at = hour.getTime() + (n * writers + index) * 1_000;
        const entries = Array.from({ length: entriesPerLink }, (_, position) =>
          newLog(tenantId, `${history.entries.length}-${position}`, { createdAt: new Date(at + position) }),
        );
        const linked = entries.map((entry) => ({ ...entry, queuedAt: entry.createdAt, digest: digestOfEntry(entry) }));
        const link = chain.next({
          linkedAt: new Date(at + 500),
          oldest: new Date(times[0]!.getTime() - HOUR_MS),
          witnessed: n === 0 ? ends.filter(({ writer }) => writer !== chain.writer) : [],
          entries: linked.map(({ id, createdAt, queuedAt, digest }) => ({ tenantId, createdAt, id, queuedAt, digest })),
        });
        await insertLogs(database, entries);
        await insertLink(database, link);
        chain.append(link);
        history.entries.push(...entries);
        history.links.push(link);
      }
    }
    for (const { head, writer } of chains) history.heads.push(await sealHead(keyManagement, head!, writer));
  }
  for (const head of history.heads) await insertHead(database, head);
  await database.run({ text: 'delete from log_unlinked' });
  return { writers: chains.map(({ writer }) => writer), hours: times, ...history };
}
