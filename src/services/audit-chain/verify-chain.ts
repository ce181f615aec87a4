import type { Queryable } from '../../data/database.ts';
import { findEntryById } from '../../data/log-audit.ts';
import { findLinkHash, listLinks, readEntries } from '../../data/log-links.ts';
import type { ChainHead, ChainLink, LinkedEntry, SealedHead } from '../../domain/audit-chain.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import { messageOfHead, NO_ENTRY } from './canonical.ts';
import { hourAfter } from './chain.ts';
import type { Fault } from './faults.ts';
import { createRemovedEntries, type RemovedEntries } from './removed-entries.ts';
import { BEFORE_FIRST, type ChainState, faultOfEntry, faultOfLink } from './verify-link.ts';

export interface ChainParts {
  readonly database: Queryable;
  readonly keyManagement: KeyManagement;
  /** Entries before may be gone. */
  readonly horizon: Date;
  /** Links of hours before may be gone. */
  readonly floor: Date;
}

/** What else is known of a chain than its links. */
export interface Testimony {
  readonly sealed: readonly SealedHead[];
  /** As the process's log tells them. */
  readonly told: readonly ChainHead[];
}

export interface VerifiedChain {
  readonly fault?: Fault;
  readonly links: number;
  readonly entries: number;
  /** Links at its end that no sealed head holds. */
  readonly unsealed: number;
  /** How long after its last link another writer has sealed its end, in ms; undefined where its own has. */
  readonly sealedLateMs?: number;
  /** Entries that are gone with their tenants, by the tenant. */
  readonly removed: ReadonlyMap<string, number>;
}

/** Links in memory at a time: of about a thousand entries each. */
const LINKS_AT_A_TIME = 20;

async function faultOfMissing(
  { database, horizon }: ChainParts,
  { writer, hour, n }: ChainLink,
  { tenantId, createdAt, queuedAt, id, digest }: LinkedEntry,
  removed: RemovedEntries,
): Promise<Fault | undefined> {
  if (createdAt < horizon) return undefined;
  if (await removed.explains({ tenantId, queuedAt })) return undefined;
  const place = { entry: { tenantId, createdAt, id }, chain: { writer, hour }, n, at: createdAt };
  const now = await findEntryById(database, id);
  if (now !== undefined) {
    const detail = `it bears the time ${now.createdAt.toISOString()} and the tenant ${now.tenantId} now`;
    return { kind: now.tenantId === tenantId ? 'reordered' : 'altered', ...place, detail };
  }
  const since = digest.equals(NO_ENTRY) ? ', and was when it was linked' : '';
  return { kind: 'missing', ...place, detail: `it is gone${since}` };
}

async function faultOfEntries(parts: ChainParts, link: ChainLink, removed: RemovedEntries): Promise<Fault | undefined> {
  const stored = await readEntries(parts.database, link.entries);
  for (const [index, linked] of link.entries.entries()) {
    const fault =
      faultOfEntry(link, linked, stored[index]) ??
      (stored[index] === undefined ? await faultOfMissing(parts, link, linked, removed) : undefined);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Of the heads that a link states: each must be there, and that of its own writer be the end of that chain. */
async function faultOfWitnessed({ database, floor }: ChainParts, link: ChainLink): Promise<Fault | undefined> {
  for (const head of link.witnessed) {
    if (head.hour < floor) continue;
    const { writer, hour, n } = head;
    const place = { chain: { writer, hour }, at: hour };
    const says = `link ${link.n} of ${link.writer} in ${link.hour.toISOString()} states it`;
    const hash = await findLinkHash(database, head);
    if (hash === undefined) return { kind: 'link missing', ...place, n, detail: says };
    if (!hash.equals(head.hash)) return { kind: 'link altered', ...place, n, detail: `${says} otherwise` };
    if (writer !== link.writer) continue;
    if ((await findLinkHash(database, { writer, hour, n: n + 1 })) === undefined) continue;
    return { kind: 'link added', ...place, n: n + 1, detail: `its writer ended the chain with link ${n}` };
  }
  return undefined;
}

/** Holds the heads of one chain against its links, which come in order. */
function createHeadCheck({ keyManagement }: ChainParts, { sealed, told }: Testimony) {
  // Of one link, what the log told first: a seal can be of later than what it is held against.
  const heads = [...told, ...sealed].sort((left, right) => left.n - right.n);
  let next = 0;
  let lastGood = 0;
  return {
    /** How many links at the end of the chain, of which `last` is the last, no sealed head holds. */
    unsealedOf: (last: number): number => last - Math.min(last, sealed.at(-1)?.n ?? 0),
    async faultAt({ writer, hour, n, hash, linkedAt }: ChainLink): Promise<Fault | undefined> {
      const place = { chain: { writer, hour }, at: linkedAt };
      for (let head = heads[next]; head !== undefined && head.n <= n; head = heads[++next]) {
        // Below the first link; passed over silently, it would keep those behind it from being looked at.
        if (head.n < n) return { kind: 'head altered', ...place, n: head.n, detail: 'no link has this number' };
        if ('mac' in head && !(await isAuthentic(keyManagement, head as SealedHead))) {
          return { kind: 'head altered', ...place, n, detail: 'its seal is not the key management’s' };
        }
        if (!head.hash.equals(hash)) {
          const since = lastGood + 1 === n ? '' : `, or one from ${lastGood + 1} on before it`;
          return {
            kind: 'link altered',
            ...place,
            n: lastGood + 1,
            detail: `the head of link ${n} is another${since}`,
          };
        }
        lastGood = n;
      }
      return undefined;
    },
    /** A head beyond the last link: the chain was cut off. */
    faultAfter({ n }: ChainState, at: Date): Fault | undefined {
      const head = heads.find((candidate) => candidate.n > n);
      if (head === undefined) return undefined;
      const { writer, hour } = head;
      return { kind: 'link missing', chain: { writer, hour }, n: n + 1, detail: `a head tells of link ${head.n}`, at };
    },
  };
}

function isAuthentic(keyManagement: KeyManagement, { mac, ...head }: SealedHead): Promise<boolean> {
  return keyManagement.verifies(messageOfHead(head), mac);
}

function latenessOfOther(
  { writer, hour }: Pick<ChainHead, 'writer' | 'hour'>,
  lastLinkedAt: Date,
  head: SealedHead | undefined,
): number | undefined {
  if (head === undefined || head.sealedBy === writer) return undefined;
  // Whoever computes a chain anew may have it say that it was linked just now, but not in which hour it is.
  const end = Math.min(lastLinkedAt.getTime(), hourAfter(hour).getTime());
  return Math.max(0, head.anchoredAt.getTime() - end);
}

/** Follows one chain from its first link to its last, or to what is at fault. */
export async function verifyChain(
  parts: ChainParts,
  chain: Pick<ChainHead, 'writer' | 'hour'>,
  testimony: Testimony,
): Promise<VerifiedChain> {
  const heads = createHeadCheck(parts, testimony);
  let state: ChainState = BEFORE_FIRST;
  let at = chain.hour;
  let entries = 0;
  const removed = createRemovedEntries(parts.database);
  for (;;) {
    const links = await listLinks(parts.database, chain, { after: state.n, limit: LINKS_AT_A_TIME });
    for (const link of links) {
      const fault =
        faultOfLink(link, state) ??
        (await faultOfEntries(parts, link, removed)) ??
        (await faultOfWitnessed(parts, link)) ??
        (await heads.faultAt(link));
      if (fault !== undefined) return { fault, links: state.n, entries, unsealed: 0, removed: removed.counts };
      state = link;
      at = link.linkedAt;
      entries += link.entries.length;
    }
    if (links.length < LINKS_AT_A_TIME) break;
  }
  const fault = heads.faultAfter(state, at);
  const sealedLateMs = latenessOfOther(chain, at, testimony.sealed.at(-1));
  return {
    ...(fault && { fault }),
    ...{ links: state.n, entries, unsealed: heads.unsealedOf(state.n), removed: removed.counts },
    ...(sealedLateMs !== undefined && { sealedLateMs }),
  };
}
