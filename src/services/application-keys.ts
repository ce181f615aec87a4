import { randomUUID } from 'node:crypto';
import {
  deleteApplicationKey,
  getApplicationKey,
  insertApplicationKey,
  listApplicationKeys,
  type NewApplicationKey,
} from '../data/application-keys.ts';
import { getApplication } from '../data/applications.ts';
import { digestOfKey, generateApplicationKey } from '../domain/application-keys.ts';
import { APPLICATION_LIMITS, type Application, type ApplicationKey } from '../domain/applications.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import type { ApplicationParts } from './applications.ts';
import { actorOf, logEntry } from './log-entries.ts';

/**
 * A key as it is stored, and its value, which is shown once; a sealed copy of the answer is kept for a day where the
 * caller sent an idempotency key.
 */
export interface MadeKey {
  stored: NewApplicationKey;
  value: string;
}

/** A new key of an application, not stored yet. */
export function newApplicationKey(
  caller: Caller,
  application: Pick<Application, 'tenantId' | 'id' | 'type'>,
  now: number,
): MadeKey {
  const value = generateApplicationKey(caller.tenantType, application.type);
  return {
    value,
    stored: {
      tenantId: application.tenantId,
      id: randomUUID(),
      applicationId: application.id,
      digest: digestOfKey(value),
      createdBy: caller.applicationId,
      createdAt: new Date(now),
      expiresAt: null,
    },
  };
}

function noSuchKey(): DomainError {
  return new DomainError('not-found', 'There is no key with this id.');
}

async function requireApplication(parts: ApplicationParts, caller: Caller, id: string): Promise<Application> {
  const application = await getApplication(parts.database, caller.tenantId, id);
  if (application === undefined) throw new DomainError('not-found', 'There is no application with this id.');
  return application;
}

/** Makes one more key of an application; throws 'unprocessable' where it has as many as it may. */
export async function createKey(parts: ApplicationParts, caller: Caller, applicationId: string): Promise<MadeKey> {
  const application = await requireApplication(parts, caller, applicationId);
  const key = newApplicationKey(caller, application, parts.clock.now());
  const log = logEntry(actorOf(caller), 'create', 'application_key', key.stored.id);
  const outcome = await insertApplicationKey(parts.database, key.stored, log);
  if (outcome === 'no-application') throw new DomainError('not-found', 'There is no application with this id.');
  if (outcome === 'too-many-keys') {
    throw new DomainError(
      'unprocessable',
      `An application has at most ${APPLICATION_LIMITS.keys} keys; delete one first.`,
    );
  }
  return key;
}

/** One page of an application's keys, newest first. */
export async function pageKeys(
  parts: ApplicationParts,
  caller: Caller,
  applicationId: string,
  { page, size }: { page: number; size: number },
): Promise<{ items: ApplicationKey[]; totalItems: number }> {
  await requireApplication(parts, caller, applicationId);
  const keys = await listApplicationKeys(parts.database, caller.tenantId, [applicationId]);
  const items = keys.slice((page - 1) * size, page * size);
  await parts.audit.record(items.map((key) => logEntry(actorOf(caller), 'read', 'application_key', key.id)));
  return { items, totalItems: keys.length };
}

/** A key, without its value; throws 'not-found'. */
export async function readKey(
  parts: ApplicationParts,
  caller: Caller,
  applicationId: string,
  id: string,
): Promise<ApplicationKey> {
  const key = await getApplicationKey(parts.database, caller.tenantId, applicationId, id);
  if (key === undefined) throw noSuchKey();
  await parts.audit.record([logEntry(actorOf(caller), 'read', 'application_key', id)]);
  return key;
}

/** Deletes a key, which stops working at once. */
export async function deleteKey(
  parts: ApplicationParts,
  caller: Caller,
  applicationId: string,
  id: string,
): Promise<void> {
  const log = logEntry(actorOf(caller), 'delete', 'application_key', id);
  if (!(await deleteApplicationKey(parts.database, caller.tenantId, applicationId, id, log))) throw noSuchKey();
  parts.authentication.forgetApplication(applicationId);
}
