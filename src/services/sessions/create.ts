import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../data/database.ts';
import { insertSession } from '../../data/sessions.ts';
import { digestOfKey, generateSessionKey } from '../../domain/application-keys.ts';
import type { Caller } from '../../domain/caller.ts';
import { SESSION_LIMITS } from '../../domain/sessions.ts';
import type { Clock } from '../../platform/clock.ts';
import { badKey } from '../authentication.ts';
import { actorOf, logEntry } from '../log-entries.ts';

export interface SessionParts {
  readonly database: Database;
  readonly clock: Clock;
}

/** A new session with its key and its nonce, which are shown once and kept nowhere. */
export interface CreatedSession {
  key: string;
  nonce: string;
  expiresAt: Date;
}

const NONCE_BYTES = 32;

/** What is stored of a nonce: SHA-256 in lower-case hex. */
export function digestOfNonce(nonce: string): string {
  return createHash('sha256').update(nonce).digest('hex');
}

/**
 * Makes a session of the application that asks, which may do nothing until it is authorized. Throws 'unauthenticated'
 * where that application is deleted meanwhile.
 */
export async function createSession({ database, clock }: SessionParts, caller: Caller): Promise<CreatedSession> {
  const key = generateSessionKey(caller.tenantType);
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const now = clock.now();
  const session = {
    ...{ tenantId: caller.tenantId, id: randomUUID(), applicationId: caller.applicationId },
    ...{ keyDigest: digestOfKey(key), nonceDigest: digestOfNonce(nonce) },
    createdAt: new Date(now),
    expiresAt: new Date(now + SESSION_LIMITS.lifetimeMs),
  };
  const log = logEntry(actorOf(caller), 'create', 'session', session.id);
  if ((await insertSession(database, session, log)) === 'no-application') throw badKey();
  return { key, nonce, expiresAt: session.expiresAt };
}
