import { readBounded } from '../../data/bounded-reads.ts';
import type { Database, Queryable } from '../../data/database.ts';
import { StatementTimeout } from '../../data/failures.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createMeasuredTurnstile } from '../measured-turnstile.ts';
import type { TurnstileLimits } from '../turnstile.ts';
import type { PageParts } from './large-pages.ts';

export interface BroadReadLimits extends TurnstileLimits {
  /** How long one of their statements takes, in ms. */
  readonly statementMs: number;
}

/** Whose read it is, and what it is called where it is refused. */
export interface BroadRead {
  readonly tenantId: string;
  /** The property of the request that makes it broad, and how it is made narrower. */
  readonly property: string;
  readonly advice: string;
  /** Aborted once nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads that can go through all tokens of a tenant, as its callers choose: searches, and lists by metadata. They have a
 * share of the database's connections, and a share of time, so that those of one tenant keep nobody else waiting.
 */
export interface BroadReads {
  /**
   * What `work` reads, once it is its turn; each has one connection, so that its statements follow one another. Throws
   * 'unavailable' where too many wait, 'invalid' where a statement takes too long.
   */
  run<Result>(read: BroadRead, work: (on: Queryable) => Promise<Result>): Promise<Result>;
}

export interface BroadReadParts extends PageParts {
  readonly broadReads: BroadReads;
}

/** The part of the database's connections that broad reads have. */
const SHARE = 1 / 4;

const LIMITS = { atOnceOfGroup: 2, waiting: 1_000, waitingOfGroup: 200, waitMs: 10_000, statementMs: 3_000 };

function tooBroad({ property, advice }: BroadRead, statementMs: number): DomainError {
  const seconds = statementMs / 1_000;
  return new DomainError('invalid', `This reads too many tokens to be answered within ${seconds} s: ${advice}.`, {
    violations: { [property]: [`must be narrower: ${advice}`] },
  });
}

function busy(): DomainError {
  return new DomainError(
    'unavailable',
    'Too many searches and lists by metadata are under way: try again later, and send fewer at a time.',
  );
}

export function createBroadReads({
  database,
  metrics,
  limits: given = {},
}: {
  readonly database: Database;
  readonly metrics: Metrics;
  readonly limits?: Partial<BroadReadLimits> | undefined;
}): BroadReads {
  const atOnce = Math.max(1, Math.floor(database.poolSize * SHARE));
  const limits = { ...LIMITS, atOnce, ...given };
  const turnstile = createMeasuredTurnstile(limits, {
    ...{ metrics, busy, name: 'broad_reads' },
    help: 'Searches and lists by metadata that are under way in the database, and that wait for their turn.',
  });

  return {
    run: (read, work) =>
      turnstile.pass(
        read.tenantId,
        async () => {
          try {
            return await readBounded(database, limits.statementMs, work);
          } catch (error) {
            throw error instanceof StatementTimeout ? tooBroad(read, limits.statementMs) : error;
          }
        },
        read.signal,
      ),
  };
}
