import type { Queryable } from '../../data/database.ts';
import { abandonedHeads, insertHead } from '../../data/log-heads.ts';
import { type ChainHead, HEAD_MESSAGE } from '../../domain/audit-chain.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import type { Logger } from '../../platform/logger.ts';
import { messageOfHead } from './canonical.ts';
import type { Linker } from './linker.ts';

/** After this long without its head sealed, in seconds, a chain's writer is taken to have ended. */
const ABANDONED_SECONDS = 150;

/** Tells the heads of chains to where the database's administrator does not reach. */
export interface Anchors {
  /**
   * Writes each new head to the log, and stores it sealed. Rejects where the key management or the database is away;
   * what was not sealed is the next time.
   */
  anchor(): Promise<void>;
}

export interface AnchorParts {
  readonly database: Queryable;
  readonly keyManagement: KeyManagement;
  readonly linker: Linker;
  readonly logger: Logger;
}

export function createAnchors({ database, keyManagement, linker, logger }: AnchorParts): Anchors {
  /** By chain: of each, the newest head holds all before it. */
  const unsealed = new Map<string, ChainHead>();

  function tell(head: ChainHead): void {
    const { writer, hour, n, hash } = head;
    logger.info({ writer, hour: hour.toISOString(), n, hash: hash.toString('hex') }, HEAD_MESSAGE);
  }

  async function seal(head: ChainHead): Promise<void> {
    const unauthenticated = { ...head, sealedBy: linker.writer, anchoredAt: new Date() };
    const mac = await keyManagement.authenticate(messageOfHead(unauthenticated));
    await insertHead(database, { ...unauthenticated, mac });
  }

  return {
    async anchor() {
      for (const head of linker.takeHeads()) {
        tell(head);
        unsealed.set(`${head.writer} ${head.hour.toISOString()}`, head);
      }
      for (const [chain, head] of unsealed) {
        await seal(head);
        unsealed.delete(chain);
      }
      // What they were when their writers ended, nobody knows here: the seal says how they are now.
      for (const head of await abandonedHeads(database, linker.writer, ABANDONED_SECONDS)) {
        tell(head);
        await seal(head);
      }
    },
  };
}
