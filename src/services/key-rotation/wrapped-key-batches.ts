import type { Database } from '../../data/database.ts';
import type { MasterKeyName } from '../../data/master-keys.ts';
import {
  countWrappedBelow,
  listWrappedBelow,
  replaceWrapped,
  type WrappedKey,
  type WrappedKeyPosition,
} from '../../data/wrapped-keys.ts';
import { DomainError } from '../../domain/errors.ts';
import type { OnProgress } from './parts.ts';

/** What became of the data keys that were to be wrapped anew. */
export interface Rewrapped {
  readonly replaced: number;
  /** Those that key management does not unwrap: altered, or moved from another tenant. */
  readonly broken: readonly WrappedKeyPosition[];
}

export interface RewrapOptions {
  readonly database: Database;
  /** Of the data keys under this master key, those below this version. */
  readonly of: MasterKeyName & { readonly version: number };
  /** Gives the new form; throws a plain Error where the old one is broken. */
  readonly rewrap: (key: WrappedKey) => Promise<string>;
  /** Ends the work after the batch under way, with an error. */
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

/** What a kill may cost: each batch is stored as a whole. */
const BATCH = 200;
/** Calls to key management at a time. */
const CONCURRENCY = 16;

/**
 * Wraps data keys anew, batch by batch in the order of tenant and id, beside live traffic. A key that was replaced
 * or destroyed meanwhile is left alone. What is done no longer matches, so another run goes on where one ended. Throws
 * a DomainError 'unavailable' where Postgres or key management cannot be reached.
 */
export async function rewrapInBatches({ database, of, rewrap, signal, onProgress }: RewrapOptions): Promise<Rewrapped> {
  const total = await countWrappedBelow(database, of, of.version);
  const broken: WrappedKeyPosition[] = [];
  let replaced = 0;
  let after: WrappedKeyPosition | undefined;
  onProgress?.(0, total);
  for (;;) {
    const keys = await listWrappedBelow(database, of, { after, limit: BATCH });
    if (keys.length === 0) return { replaced, broken };
    after = keys.at(-1);
    const done: (WrappedKey & { replacement: string })[] = [];
    for (let start = 0; start < keys.length; start += CONCURRENCY) {
      await Promise.all(
        keys.slice(start, start + CONCURRENCY).map(async (key) => {
          const replacement = await rewrap(key).catch(unlessUnavailable);
          if (replacement === undefined) broken.push({ tenantId: key.tenantId, id: key.id });
          else done.push({ ...key, replacement });
        }),
      );
    }
    replaced += await replaceWrapped(database, done);
    onProgress?.(replaced + broken.length, Math.max(total, replaced + broken.length));
    if (signal.aborted) {
      throw new DomainError('unavailable', 'this was ended before its time: run it again, it goes on from there');
    }
  }
}

function unlessUnavailable(error: unknown): undefined {
  if (error instanceof DomainError) throw error;
}
