import type { Database } from '../data/database.ts';
import type { Caller } from '../domain/caller.ts';
import type { KeyedHasher } from '../keys/keyed-hashes.ts';
import type { Sealer } from '../keys/sealing.ts';
import type { Logger } from '../platform/logger.ts';

/** An answer in the form in which it is given, and given again. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface IdempotentRequest {
  readonly caller: Caller;
  /** As the caller chose it. */
  readonly key: string;
  /** Method and path: a key belongs to the operation that it was first used for. */
  readonly operation: string;
  readonly traceId: string;
}

export interface Idempotency {
  once(
    request: IdempotentRequest,
    work: () => Promise<KeptAnswer>,
  ): Promise<{ answer: KeptAnswer; replayed: boolean }>;
}

export interface IdempotencyOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly hasher: KeyedHasher;
  readonly logger: Logger;
}
