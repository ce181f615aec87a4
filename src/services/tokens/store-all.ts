import type { Database, Queryable } from '../../data/database.ts';
import { findTokenByFingerprint, fingerprintLock, insertTokens, lockFingerprint } from '../../data/token-inserts.ts';
import type { NewToken, TokenRow } from '../../data/tokens.ts';
import { type Actor, tokenLogEntry } from '../log-entries.ts';
import type { TokenDraft } from './draft.ts';

/** A token that is to be stored together with others. */
export interface PlannedToken {
  draft: TokenDraft;
  row: NewToken;
}

export interface StoredToken<Planned extends PlannedToken> {
  /** What was stored: of duplicates in one payload, the first one. */
  planned: Planned;
  /** The token that was there before, in its place. */
  existing?: TokenRow;
}

/** Rolls back a transaction, to begin again with other ids. */
class IdsTaken extends Error {
  override readonly name = 'IdsTaken';
  readonly rows: ReadonlySet<NewToken>;

  constructor(rows: readonly NewToken[]) {
    super('ids are taken');
    this.rows = new Set(rows);
  }
}

interface Unique<Planned> {
  planned: Planned;
  fingerprint: Buffer;
  lock: bigint;
}

function byLock({ lock: left }: Unique<unknown>, { lock: right }: Unique<unknown>): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * What takes the place of planned tokens that are duplicates, of stored ones or of each other. Until the transaction
 * ends, nobody else stores a token with one of their fingerprints.
 */
async function findDuplicates<Planned extends PlannedToken>(transaction: Queryable, all: readonly Planned[]) {
  const unique = all.flatMap((planned): Unique<Planned>[] => {
    const { tenantId, type, fingerprint } = planned.row;
    if (!planned.draft.deduplicate || fingerprint === null) return [];
    return [{ planned, fingerprint, lock: fingerprintLock(tenantId, type, fingerprint) }];
  });
  const found = new Map<Planned, StoredToken<Planned>>();
  const first = new Map<bigint, StoredToken<Planned>>();
  // Sorting is stable: of duplicates in one payload, the first one comes first.
  for (const { planned, fingerprint, lock } of unique.sort(byLock)) {
    let stored = first.get(lock);
    if (stored === undefined) {
      const { tenantId, type } = planned.row;
      await lockFingerprint(transaction, tenantId, type, fingerprint);
      stored = { planned, existing: await findTokenByFingerprint(transaction, tenantId, type, fingerprint) };
      first.set(lock, stored);
    }
    found.set(planned, stored);
  }
  return found;
}

async function tryToStore<Planned extends PlannedToken>(
  database: Database,
  actor: Actor,
  all: readonly Planned[],
): Promise<StoredToken<Planned>[]> {
  return database.transaction(async (transaction) => {
    const duplicates = await findDuplicates(transaction, all);
    const stored = all.map((planned) => duplicates.get(planned) ?? { planned });
    const fresh = stored.flatMap(({ planned, existing }, index) =>
      existing === undefined && planned === all[index] ? [planned.row] : [],
    );
    const taken = await insertTokens(
      transaction,
      fresh,
      fresh.map((row) => tokenLogEntry(actor, 'create', row)),
    );
    if (taken.length > 0) throw new IdsTaken(taken);
    return stored;
  });
}

/**
 * Stores every token or none; gives, in the same order, what stands for each. Where ids are taken, `replan` gives those
 * tokens other ones, or throws.
 */
export async function storeAll<Planned extends PlannedToken>(
  { database }: { readonly database: Database },
  actor: Actor,
  planned: readonly Planned[],
  replan: (planned: Planned) => Promise<Planned>,
): Promise<StoredToken<Planned>[]> {
  for (let tokens = planned; ;) {
    try {
      return await tryToStore(database, actor, tokens);
    } catch (error) {
      if (!(error instanceof IdsTaken)) throw error;
      tokens = await Promise.all(tokens.map(async (token) => (error.rows.has(token.row) ? replan(token) : token)));
    }
  }
}
