import type { ChainHead, ChainLink, LinkedEntry } from '../../domain/audit-chain.ts';
import type { LogEntry } from '../../domain/logs.ts';
import { digestOfEntry, hashOfLink, NO_ENTRY, NO_LINK } from './canonical.ts';
import type { Fault } from './faults.ts';

/** How far apart the clocks of writer and database, and how late a statement may be, before an entry is backdated. */
const CLOCK_TOLERANCE_MS = 600_000;

/** How a chain stands before its next link. */
export interface ChainState {
  readonly n: number;
  readonly hash: Buffer;
}

export const BEFORE_FIRST: ChainState = { n: 0, hash: NO_LINK };

function linkFault(link: ChainHead & { linkedAt: Date }, kind: Fault['kind'], n: number, detail: string): Fault {
  const { writer, hour, linkedAt } = link;
  return { kind, chain: { writer, hour }, n, detail, at: linkedAt };
}

/** What is wrong with a link as such, by what stands before it in its chain. */
export function faultOfLink(link: ChainLink, before: ChainState): Fault | undefined {
  const expected = before.n + 1;
  if (link.n !== expected) return linkFault(link, 'link missing', expected, `link ${link.n} comes after ${before.n}`);
  if (!hashOfLink(link).equals(link.hash)) {
    return linkFault(link, 'link altered', link.n, 'its hash is not that of what it holds');
  }
  if (link.previous.equals(before.hash)) return undefined;
  // Both are whole: so the one before is not the one that this was made after.
  return linkFault(link, 'link altered', Math.max(before.n, 1), 'the next link holds another one in its place');
}

/** What is wrong with an entry as it is stored now; undefined too where it is gone, which may be right. */
export function faultOfEntry(link: ChainLink, linked: LinkedEntry, stored: LogEntry | undefined): Fault | undefined {
  const { tenantId, createdAt, id, queuedAt, digest } = linked;
  const { writer, hour, n } = link;
  const place = { entry: { tenantId, createdAt, id }, chain: { writer, hour }, n, at: createdAt };
  if (stored !== undefined && !digestOfEntry(stored).equals(digest)) {
    const detail = digest.equals(NO_ENTRY) ? 'it was not there when it was linked' : 'it is not as it was linked';
    return { kind: 'altered', ...place, detail };
  }
  if (Math.abs(queuedAt.getTime() - createdAt.getTime()) > CLOCK_TOLERANCE_MS) {
    return { kind: 'backdated', ...place, detail: `it was written at ${queuedAt.toISOString()}` };
  }
  return undefined;
}
