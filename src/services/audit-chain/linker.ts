import type { Database, Queryable } from '../../data/database.ts';
import { newestHeadsOfOthers } from '../../data/log-heads.ts';
import { findLinkHash, insertLink, linkingMoment, readEntries } from '../../data/log-links.ts';
import { takeUnlinked } from '../../data/log-queue.ts';
import type { ChainHead, ChainLink, LinkedEntry } from '../../domain/audit-chain.ts';
import type { Logger } from '../../platform/logger.ts';
import { digestOfEntry, NO_ENTRY } from './canonical.ts';
import { type Chain, createChain } from './chain.ts';

/** Entries of one link, about: bounds what is in memory and in one row. */
const LINK_ENTRIES = 1_000;
/** How old what is known of other writers' heads may be before a link states them again. */
const WITNESS_MS = 60_000;

/**
 * Moves entries from the queue into links of this process's own chain. Replicas share the queue and never each other's
 * chains: none waits for another, and an entry that a crashed process has left is anybody's.
 */
export interface Linker {
  readonly writer: string;
  /** Makes one link of what waits; gives its number of entries. None is lost or linked twice where it rejects. */
  linkOnce(): Promise<number>;
  /** The newest heads of its chains since it was last asked for them. */
  takeHeads(): ChainHead[];
}

export function createLinker({ database, logger }: { readonly database: Database; readonly logger: Logger }): Linker {
  let chain: Chain = createChain();
  let left: ChainHead[] = [];
  /** A link of which it is not known whether it was committed. */
  let uncertain: ChainLink | undefined;
  let witnessedAt = -Infinity;

  const isWitnessDue = (linkedAt: Date): boolean => linkedAt.getTime() >= witnessedAt + WITNESS_MS;

  function append(committed: ChainLink): void {
    if (isWitnessDue(committed.linkedAt)) witnessedAt = committed.linkedAt.getTime();
    chain.append(committed);
  }

  /** Goes on with a chain of another writer's name. */
  function leaveChain(): void {
    left = [...left, ...chain.takeHeads()];
    chain = createChain();
  }

  async function settle(): Promise<void> {
    if (uncertain === undefined) return;
    const stored = await findLinkHash(database, uncertain);
    if (stored?.equals(uncertain.hash)) {
      append(uncertain);
    } else {
      const { writer, hour, n } = uncertain;
      if (stored) logger.error({ writer, hour: hour.toISOString(), n }, 'Audit chain was written to by another');
      // What is not there may yet be, where its commit waits for a standby: nothing may take its place, nor tell of the
      // link before as the end.
      leaveChain();
    }
    uncertain = undefined;
  }

  async function linkedEntries(transaction: Queryable): Promise<LinkedEntry[]> {
    const queued = await takeUnlinked(transaction, LINK_ENTRIES);
    const entries = await readEntries(transaction, queued);
    return queued.map((key, index) => {
      const entry = entries[index];
      return { ...key, digest: entry === undefined ? NO_ENTRY : digestOfEntry(entry) };
    });
  }

  async function witnesses(transaction: Queryable, linkedAt: Date): Promise<ChainHead[]> {
    return isWitnessDue(linkedAt) ? newestHeadsOfOthers(transaction, chain.writer) : [];
  }

  async function addLink(transaction: Queryable): Promise<ChainLink | undefined> {
    const entries = await linkedEntries(transaction);
    if (entries.length === 0) return undefined;
    const { now, oldest } = await linkingMoment(transaction);
    const link = chain.next({ linkedAt: now, oldest, witnessed: await witnesses(transaction, now), entries });
    uncertain = link;
    await insertLink(transaction, link);
    return link;
  }

  return {
    get writer() {
      return chain.writer;
    },
    async linkOnce() {
      await settle();
      const link = await database.transaction(addLink);
      uncertain = undefined;
      if (link === undefined) return 0;
      append(link);
      return link.entries.length;
    },
    takeHeads() {
      const heads = [...left, ...chain.takeHeads()];
      left = [];
      return heads;
    },
  };
}
