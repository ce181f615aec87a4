import { randomUUID } from 'node:crypto';
import { insertApplicationKeyIn, listApplicationKeys } from '../data/application-keys.ts';
import {
  deleteApplication as deleteRow,
  getApplication,
  insertApplication,
  pageOfApplications,
  replaceApplication,
} from '../data/applications.ts';
import type { Database } from '../data/database.ts';
import { checkAccess, normalizeRules, type RequestedAccess } from '../domain/application-access.ts';
import type { Application, ApplicationKey, ApplicationType } from '../domain/applications.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, ViolationCollector } from '../domain/errors.ts';
import { INSTANT_FORMATS, parseInstant } from '../domain/instants.ts';
import type { Permission } from '../domain/permissions.ts';
import type { Clock } from '../platform/clock.ts';
import { newApplicationKey } from './application-keys.ts';
import type { Audit } from './audit.ts';
import type { Authentication } from './authentication.ts';
import { forgetAnswers } from './forget-answers.ts';
import { actorOf, logEntry } from './log-entries.ts';

/** An application with what there is to know about its keys. */
export interface ApplicationWithKeys {
  application: Application;
  keys: ApplicationKey[];
  /** The value of the key that was made with it. */
  key?: string;
}

export interface ApplicationParts {
  readonly database: Database;
  readonly authentication: Authentication;
  readonly audit: Audit;
  readonly clock: Clock;
}

export interface NewApplicationInput {
  name: string;
  type: ApplicationType;
  permissions?: string[];
  rules?: RequestedAccess['rules'];
  expires_at?: string | null;
  create_key?: boolean;
}

export interface ApplicationUpdate {
  name: string;
  permissions?: string[];
  rules?: RequestedAccess['rules'];
}

function noSuchApplication(): DomainError {
  return new DomainError('not-found', 'There is no application with this id.');
}

/** The end that a caller gives an application; null for none. Records it where it is no instant to come. */
export function readExpiry(text: string | null | undefined, now: number, violations: ViolationCollector): Date | null {
  if (text === undefined || text === null) return null;
  const instant = parseInstant(text);
  if (instant === undefined) violations.add('expires_at', INSTANT_FORMATS);
  else if (instant.getTime() <= now) violations.add('expires_at', 'must be in the future');
  return instant ?? null;
}

async function withKeys(
  database: Database,
  tenantId: string,
  applications: Application[],
): Promise<ApplicationWithKeys[]> {
  const ids = applications.map((application) => application.id);
  const keys = await listApplicationKeys(database, tenantId, ids);
  return applications.map((application) => ({
    application,
    keys: keys.filter((key) => key.applicationId === application.id),
  }));
}

async function recordReads(audit: Audit, caller: Caller, applications: readonly Application[]): Promise<void> {
  await audit.record(applications.map(({ id }) => logEntry(actorOf(caller), 'read', 'application', id)));
}

/** The application with this id and its keys; throws 'not-found'. */
export async function readApplication(
  { database, audit }: ApplicationParts,
  caller: Caller,
  id: string,
): Promise<ApplicationWithKeys> {
  const application = await getApplication(database, caller.tenantId, id);
  if (application === undefined) throw noSuchApplication();
  const [found] = await withKeys(database, caller.tenantId, [application]);
  await recordReads(audit, caller, [application]);
  return found!;
}

/** One page of the tenant's applications, newest first. */
export async function pageApplications(
  { database, audit }: ApplicationParts,
  caller: Caller,
  filter: { ids?: string[]; types?: ApplicationType[] },
  page: { page: number; size: number },
): Promise<{ items: ApplicationWithKeys[]; totalItems: number }> {
  const { tenantId } = caller;
  const { rows, total } = await pageOfApplications(database, { tenantId, ...filter }, page);
  const items = await withKeys(database, tenantId, rows);
  await recordReads(audit, caller, rows);
  return { items, totalItems: total };
}

/** Stores a new application and, unless asked not to, its first key. */
export async function createApplication(
  { database, clock }: ApplicationParts,
  caller: Caller,
  input: NewApplicationInput,
): Promise<ApplicationWithKeys> {
  const { name, type, permissions = [], rules = [] } = input;
  const violations = new ViolationCollector();
  checkAccess({ type, permissions, rules }, violations);
  const expiresAt = readExpiry(input.expires_at, clock.now(), violations);
  violations.throwIfAny();

  const actor = actorOf(caller);
  const application = {
    tenantId: caller.tenantId,
    id: randomUUID(),
    name,
    type,
    permissions: permissions as Permission[],
    rules: normalizeRules(rules),
    expiresAt,
    declared: false,
    createdBy: caller.applicationId,
    createdAt: new Date(clock.now()),
  };
  const first = input.create_key === false ? undefined : newApplicationKey(caller, application, clock.now());
  await database.transaction(async (transaction) => {
    await insertApplication(transaction, application, logEntry(actor, 'create', 'application', application.id));
    if (first) {
      await insertApplicationKeyIn(
        transaction,
        first.stored,
        logEntry(actor, 'create', 'application_key', first.stored.id),
      );
    }
  });
  return {
    application: { ...application, modifiedBy: null, modifiedAt: null },
    keys: first ? [first.stored] : [],
    ...(first ? { key: first.value } : {}),
  };
}

/** Replaces name, permissions and rules; type, expiry and keys stay. */
export async function updateApplication(
  parts: ApplicationParts,
  caller: Caller,
  id: string,
  update: ApplicationUpdate,
): Promise<ApplicationWithKeys> {
  const { database, authentication, clock } = parts;
  const current = await getApplication(database, caller.tenantId, id);
  if (current === undefined) throw noSuchApplication();
  const { name, permissions = [], rules = [] } = update;
  const violations = new ViolationCollector();
  checkAccess({ type: current.type, permissions, rules }, violations);
  violations.throwIfAny();
  const changed = {
    tenantId: caller.tenantId,
    id,
    name,
    permissions: permissions as Permission[],
    rules: normalizeRules(rules),
    modifiedBy: caller.applicationId,
    modifiedAt: new Date(clock.now()),
  };
  const log = logEntry(actorOf(caller), 'update', 'application', id);
  const application = await replaceApplication(database, changed, log);
  if (application === undefined) throw noSuchApplication();
  authentication.forgetApplication(id);
  const [updated] = await withKeys(database, caller.tenantId, [application]);
  return updated!;
}

/** Deletes an application with its keys, which stop working at once, its sessions and its kept answers. */
export async function deleteApplication(parts: ApplicationParts, caller: Caller, id: string): Promise<void> {
  const log = logEntry(actorOf(caller), 'delete', 'application', id);
  if (!(await deleteRow(parts.database, caller.tenantId, id, log))) throw noSuchApplication();
  parts.authentication.forgetApplication(id);
  await forgetAnswers(parts.database, caller.tenantId, id);
}
