import { digestOfKey, isPlausibleApplicationKey } from '../domain/application-keys.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import type { Clock } from '../platform/clock.ts';

/** What a key's digest stands for, and until when. */
export interface AccessRecord {
  caller: Caller;
  /** Earliest end of the key or of its application, in ms since the epoch; Infinity where neither ends. */
  endsAt: number;
}

export interface Authentication {
  /** The caller that a key stands for. Every key that is not good fails alike, whatever the reason. */
  authenticate(key: string | undefined): Promise<Caller>;
  /** Forgets what is known of an application's keys, so that the next request learns of a change. */
  forgetApplication(applicationId: string): void;
  forgetAll(): void;
  /**
   * Lets a key that is stored nowhere stand for whatever `findAccess` gives, in this process alone, until `revoke` is
   * called: for one reactor invocation.
   */
  admit(key: string, findAccess: () => Promise<AccessRecord | undefined>): { revoke: () => void };
}

export interface AuthenticationOptions {
  /** Looks up an unexpired key of an unexpired application. */
  readonly findAccess: (digest: string) => Promise<AccessRecord | undefined>;
  readonly clock: Clock;
}

/**
 * A record is asked for again after this long even if no change was announced: a bound on how late a lost
 * notification can be, within the second that a change may take to be seen everywhere.
 */
const FRESH_MS = 900;
const CACHED_KEYS = 10_000;

interface CacheEntry {
  record: Promise<AccessRecord | undefined>;
  applicationId?: string;
  askedAt: number;
}

function refuse(): DomainError {
  return new DomainError('unauthenticated', 'A valid API key is required.');
}

export function createAuthentication({ findAccess, clock }: AuthenticationOptions): Authentication {
  const cache = new Map<string, CacheEntry>();
  const admitted = new Map<string, () => Promise<AccessRecord | undefined>>();

  function ask(digest: string): CacheEntry {
    const entry: CacheEntry = { record: admitted.get(digest)?.() ?? findAccess(digest), askedAt: clock.now() };
    entry.record.then(
      (record) => {
        entry.applicationId = record?.caller.applicationId;
        // Unknown keys are not remembered: a key that is made next must work at once.
        if (record === undefined && cache.get(digest) === entry) cache.delete(digest);
      },
      () => {
        if (cache.get(digest) === entry) cache.delete(digest);
      },
    );
    cache.delete(digest);
    cache.set(digest, entry);
    if (cache.size > CACHED_KEYS) cache.delete(cache.keys().next().value!);
    return entry;
  }

  return {
    async authenticate(key) {
      if (key === undefined || !isPlausibleApplicationKey(key)) throw refuse();
      const digest = digestOfKey(key);
      const now = clock.now();
      const cached = cache.get(digest);
      const entry = cached && now - cached.askedAt < FRESH_MS ? cached : ask(digest);
      const record = await entry.record;
      if (record === undefined || record.endsAt <= clock.now()) throw refuse();
      return record.caller;
    },
    forgetApplication(applicationId) {
      for (const [digest, entry] of cache) {
        // An answer under way may predate the change.
        if (entry.applicationId === undefined || entry.applicationId === applicationId) cache.delete(digest);
      }
    },
    forgetAll() {
      cache.clear();
    },
    admit(key, findAdmitted) {
      const digest = digestOfKey(key);
      admitted.set(digest, findAdmitted);
      return {
        revoke() {
          admitted.delete(digest);
          cache.delete(digest);
        },
      };
    },
  };
}
