import { DomainError } from '../../domain/errors.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createMeasuredTurnstile } from '../measured-turnstile.ts';
import type { TurnstileLimits } from '../turnstile.ts';
import type { TokenParts } from './create.ts';

/**
 * Pages with large tokens, 100 MB at most: few are read, opened and held at a time, so that the memory that they take
 * is bounded and everybody else is served in between. Pages of small tokens need no turn.
 */
export interface LargePages {
  /**
   * What `work` gives, once it is its turn. Throws 'unavailable' where too many wait, where the wait takes too long and
   * where `signal` is aborted before.
   */
  run<Result>(tenantId: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

export interface PageParts extends TokenParts {
  readonly largePages: LargePages;
}

// The rate limits let a hundred lists of one application come at once, each of which may take a second: all are to be
// answered.
const LIMITS: TurnstileLimits = { atOnce: 2, atOnceOfGroup: 1, waiting: 1_000, waitingOfGroup: 200, waitMs: 60_000 };

function busy(): DomainError {
  return new DomainError(
    'unavailable',
    'Too many pages of large tokens are under way: try again later, and ask for fewer at a time, or for smaller ones.',
  );
}

export function createLargePages({
  metrics,
  limits = {},
}: {
  readonly metrics: Metrics;
  readonly limits?: Partial<TurnstileLimits> | undefined;
}): LargePages {
  const turnstile = createMeasuredTurnstile(
    { ...LIMITS, ...limits },
    {
      ...{ metrics, busy, name: 'large_pages' },
      help: 'Pages with large tokens that are being read and opened, and that wait for their turn.',
    },
  );
  return { run: (tenantId, work, signal) => turnstile.pass(tenantId, work, signal) };
}
