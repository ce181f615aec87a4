import { createHash } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import type { InternalAuthentication, Verdict } from './authentication.ts';

/** A verdict, and when at the latest it is no longer one. */
export interface Judgement {
  readonly verdict: Verdict;
  /** The token's own end, in epoch ms; Infinity where it has none. */
  readonly endsAt: number;
}

export interface RememberedVerdictsOptions {
  /** Asks whoever knows. What it rejects with is passed on, and not remembered. */
  readonly judge: (token: string) => Promise<Judgement>;
  readonly clock: Clock;
  /** How long `accepted` is remembered, in ms: a token that was revoked works for so long. */
  readonly acceptedMs?: number;
  /** How long any other verdict is, in ms. */
  readonly refusedMs?: number;
}

interface Remembered extends Judgement {
  readonly since: number;
}

const ACCEPTED_MS = 60_000;
const REFUSED_MS = 5_000;
/** Of each of the two memories; the oldest goes first. */
const MAX_REMEMBERED = 1_000;

/** Judges each token once for a while, by its digest. Of calls about one token at the same time, one asks. */
export function rememberVerdicts(options: RememberedVerdictsOptions): InternalAuthentication {
  const { judge, clock, acceptedMs = ACCEPTED_MS, refusedMs = REFUSED_MS } = options;
  // Apart, so that made-up tokens, however many, do not push out one that is accepted.
  const memories = { accepted: new Map<string, Remembered>(), others: new Map<string, Remembered>() };
  const asking = new Map<string, Promise<Verdict>>();

  function recall(memory: Map<string, Remembered>, digest: string, forMs: number): Verdict | undefined {
    const found = memory.get(digest);
    const now = clock.now();
    // Before its time only where the clock was turned back: nobody knows how old it is.
    const isFresh = found !== undefined && now >= found.since && now < Math.min(found.since + forMs, found.endsAt);
    if (!isFresh) memory.delete(digest);
    return isFresh ? found.verdict : undefined;
  }

  async function ask(token: string, digest: string): Promise<Verdict> {
    // Before the question: what comes to pass while it is answered counts against the verdict.
    const since = clock.now();
    const judgement = await judge(token);
    const memory = judgement.verdict === 'accepted' ? memories.accepted : memories.others;
    memory.set(digest, { ...judgement, since });
    const [oldest] = memory.keys();
    if (memory.size > MAX_REMEMBERED && oldest !== undefined) memory.delete(oldest);
    return judgement.verdict;
  }

  return {
    async authenticate(token) {
      const digest = createHash('sha256').update(token).digest('base64');
      const known = recall(memories.accepted, digest, acceptedMs) ?? recall(memories.others, digest, refusedMs);
      if (known !== undefined) return known;
      const underWay = asking.get(digest);
      if (underWay !== undefined) return underWay;
      const answer = ask(token, digest).finally(() => asking.delete(digest));
      asking.set(digest, answer);
      return answer;
    },
  };
}
