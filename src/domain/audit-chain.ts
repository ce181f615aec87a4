/** A link of a chain, by its place and its hash: whoever holds it holds everything before it in the chain. */
export interface ChainHead {
  /** Of one process, from its start to its end. */
  readonly writer: string;
  /** Its beginning. A writer begins a new chain in each hour in which it links. */
  readonly hour: Date;
  /** From 1, within writer and hour. */
  readonly n: number;
  /** SHA-256. */
  readonly hash: Buffer;
}

/** An entry as a link holds it. */
export interface LinkedEntry {
  readonly tenantId: string;
  readonly createdAt: Date;
  readonly id: string;
  /** When it was written, by the database's clock; `createdAt` is by the clock of who wrote it. */
  readonly queuedAt: Date;
  /** SHA-256 of the whole entry. */
  readonly digest: Buffer;
}

/** One batch of entries, bound to all that were linked before it in its chain. */
export interface ChainLink extends ChainHead {
  /** The hash of the link before; zeros in the first one. */
  readonly previous: Buffer;
  /** By the database's clock. */
  readonly linkedAt: Date;
  /** How far back the log was promised to reach then: older entries may have been dropped. */
  readonly oldest: Date;
  /** Heads of other chains at that time. The first link of a chain has that of its writer's chain before. */
  readonly witnessed: readonly ChainHead[];
  readonly entries: readonly LinkedEntry[];
}

/** A head, sealed by the key management: the database's administrator cannot make one. */
export interface SealedHead extends ChainHead {
  /** The writer that had it sealed: another one where its own had ended before it could. */
  readonly sealedBy: string;
  readonly anchoredAt: Date;
  readonly mac: string;
}

/** What names an entry of the audit log. */
export type EntryKey = Pick<LinkedEntry, 'tenantId' | 'createdAt' | 'id'>;

/** An entry that waits to be linked. */
export type QueuedEntry = Omit<LinkedEntry, 'digest'>;

/** The message of the log line in which each head is told to whoever keeps the process's log. */
export const HEAD_MESSAGE = 'Audit chain head';
