import { digestOfKey, isPlausibleApplicationKey, isSessionKey } from '../domain/application-keys.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import { type CacheObserver, unobservedCache } from '../platform/cache-metrics.ts';
import type { Clock } from '../platform/clock.ts';

/** What a key's digest stands for, and until when. */
export interface AccessRecord {
  caller: Caller;
  /** Other applications than the caller's own that the access follows. */
  follows?: readonly string[];
  /** Whether more access may come at any moment without being announced: then it is looked up for each request. */
  isPending?: boolean;
  /** Earliest end of the key or of its application, in ms since the epoch; Infinity where neither ends. */
  endsAt: number;
}

export interface Authentication {
  /** The caller that a key stands for. Every key that is not good fails alike, whatever the reason. */
  authenticate(key: string | undefined): Promise<Caller>;
  /** Forgets what is known of an application's keys and sessions, so that the next request learns of a change. */
  forgetApplication(applicationId: string): void;
  forgetAll(): void;
  /**
   * Lets a key that is stored nowhere stand for whatever `findAccess` gives, in this process alone, until `revoke` is
   * called: for one reactor invocation.
   */
  admit(key: string, findAccess: () => Promise<AccessRecord | undefined>): { revoke: () => void };
  /** Counts a request with an admitted key; gives how many there have been. Undefined for any other key. */
  countAdmitted(key: string): number | undefined;
  /** Keys that are known now. */
  readonly size: number;
}

export interface AuthenticationOptions {
  /** Looks up an unexpired key of an unexpired application. */
  readonly findAccess: (digest: string) => Promise<AccessRecord | undefined>;
  /** Looks up the key of an unexpired session. */
  readonly findSession: (digest: string) => Promise<AccessRecord | undefined>;
  readonly clock: Clock;
  readonly observer?: CacheObserver;
}

/**
 * A record is asked for again after this long even if no change was announced: a bound on how late a lost
 * notification can be, within the second that a change may take to be seen everywhere.
 */
const FRESH_MS = 900;
const CACHED_KEYS = 10_000;

interface Admission {
  readonly findAccess: () => Promise<AccessRecord | undefined>;
  requests: number;
}

interface CacheEntry {
  record: Promise<AccessRecord | undefined>;
  /** The applications whose change ends it; unknown while the answer is under way. */
  applicationIds?: readonly string[];
  askedAt: number;
}

/** The one refusal of every key that is not good, or is no longer by the time that its request comes to write. */
export function badKey(): DomainError {
  return new DomainError('unauthenticated', 'A valid API key is required.');
}

/** A key that is unknown may be made next, and a session authorized next: both must work from then on. */
function mayChangeUnannounced(record: AccessRecord | undefined): boolean {
  return record === undefined || record.isPending === true;
}

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { findAccess, findSession, clock, observer = unobservedCache } = options;
  const cache = new Map<string, CacheEntry>();
  const admitted = new Map<string, Admission>();

  function ask(digest: string, find: typeof findAccess): CacheEntry {
    const entry: CacheEntry = { record: admitted.get(digest)?.findAccess() ?? find(digest), askedAt: clock.now() };
    entry.record.then(
      (record) => {
        entry.applicationIds = record && [record.caller.applicationId, ...(record.follows ?? [])];
        if (mayChangeUnannounced(record) && cache.get(digest) === entry) cache.delete(digest);
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

  // Requests that come together share a look-up.
  async function lookUp(digest: string, find: typeof findAccess): Promise<AccessRecord | undefined> {
    const cached = cache.get(digest);
    if (cached === undefined || clock.now() - cached.askedAt >= FRESH_MS) {
      observer.missed();
      return ask(digest, find).record;
    }
    observer.hit();
    const record = await cached.record;
    if (!mayChangeUnannounced(record)) return record;
    // It was asked for before this request came. Whatever is asked for by now was not.
    return (cache.get(digest) ?? ask(digest, find)).record;
  }

  return {
    async authenticate(key) {
      if (key === undefined || !isPlausibleApplicationKey(key)) throw badKey();
      const record = await lookUp(digestOfKey(key), isSessionKey(key) ? findSession : findAccess);
      if (record === undefined || record.endsAt <= clock.now()) throw badKey();
      return record.caller;
    },
    forgetApplication(applicationId) {
      for (const [digest, entry] of cache) {
        // An answer under way may predate the change.
        if (entry.applicationIds?.includes(applicationId) ?? true) cache.delete(digest);
      }
    },
    forgetAll() {
      cache.clear();
    },
    admit(key, findAdmitted) {
      const digest = digestOfKey(key);
      admitted.set(digest, { findAccess: findAdmitted, requests: 0 });
      return {
        revoke() {
          admitted.delete(digest);
          cache.delete(digest);
        },
      };
    },
    get size() {
      return cache.size;
    },
    countAdmitted(key) {
      const admission = admitted.size === 0 ? undefined : admitted.get(digestOfKey(key));
      if (admission === undefined) return undefined;
      admission.requests++;
      return admission.requests;
    },
  };
}
