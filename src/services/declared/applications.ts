import { deleteApplication, upsertApplication } from '../../data/applications.ts';
import type { Database } from '../../data/database.ts';
import { setDeclaredKeys } from '../../data/declared-keys.ts';
import { breaksConstraint, FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION } from '../../data/failures.ts';
import { checkDeclaredAccess, normalizeRules } from '../../domain/application-access.ts';
import type { ApplicationDeclaration } from '../../domain/declarations.ts';
import { DomainError, invalid, ViolationCollector } from '../../domain/errors.ts';
import { INSTANT_FORMATS, parseInstant } from '../../domain/instants.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Authentication } from '../authentication.ts';
import { forgetAnswers } from '../forget-answers.ts';
import { logEntry, operatorOf } from '../log-entries.ts';

export interface DeclaredApplicationParts {
  readonly database: Database;
  readonly authentication: Authentication;
  readonly clock: Clock;
}

function checkDeclaration(declaration: ApplicationDeclaration): Date | null {
  const violations = new ViolationCollector();
  checkDeclaredAccess(declaration, violations);
  const expiresAt = declaration.expiresAt === undefined ? null : parseInstant(declaration.expiresAt);
  if (expiresAt === undefined) violations.add('expiresAt', INSTANT_FORMATS);
  declaration.keys.forEach((key, index) => {
    if (key.expiresAt !== undefined && parseInstant(key.expiresAt) === undefined) {
      violations.add(`keys[${index}].expiresAt`, INSTANT_FORMATS);
    }
  });
  violations.throwIfAny();
  return expiresAt ?? null;
}

function explain(error: unknown): unknown {
  if (breaksConstraint(error, UNIQUE_VIOLATION, 'application_keys_digest')) {
    return invalid('keys', 'holds a key that another application has: delete that one, or use another key');
  }
  if (breaksConstraint(error, FOREIGN_KEY_VIOLATION, 'applications_tenant_id_fkey')) {
    return new DomainError('not-found', 'There is no tenant with this id.');
  }
  return error;
}

/** Makes an application and its declared keys what the declaration says; true where anything was different before. */
export async function putApplication(
  { database, authentication, clock }: DeclaredApplicationParts,
  tenantId: string,
  id: string,
  declaration: ApplicationDeclaration,
): Promise<boolean> {
  const expiresAt = checkDeclaration(declaration);
  const actor = operatorOf(tenantId);
  const now = new Date(clock.now());
  const { name, type, permissions, rules, keys } = declaration;
  const application = {
    ...{ tenantId, id, name, type, permissions, rules: normalizeRules(rules), expiresAt },
    declared: true,
    createdBy: null,
    createdAt: now,
  };
  const logs = [logEntry(actor, 'create', 'application', id), logEntry(actor, 'update', 'application', id)];
  const changed = await database
    .transaction(async (transaction) => {
      const outcome = await upsertApplication(transaction, application, logs);
      const changes = await setDeclaredKeys(
        transaction,
        application,
        keys,
        (operation, keyId) => logEntry(actor, operation, 'application_key', keyId),
        now,
      );
      return outcome !== 'unchanged' || Object.values(changes).some((ids: string[]) => ids.length > 0);
    })
    .catch((error: unknown) => {
      throw explain(error);
    });
  if (changed) authentication.forgetApplication(id);
  return changed;
}

/**
 * Has the declared keys of an application work no longer, so that another application may have them; keys made through
 * the API stay. Nothing happens where there is no such application.
 */
export async function revokeDeclaredKeys(
  { database, authentication, clock }: DeclaredApplicationParts,
  tenantId: string,
  id: string,
): Promise<void> {
  const actor = operatorOf(tenantId);
  const logOf = (operation: 'create' | 'update' | 'delete', keyId: string) =>
    logEntry(actor, operation, 'application_key', keyId);
  await database.transaction((transaction) =>
    setDeclaredKeys(transaction, { tenantId, id }, [], logOf, new Date(clock.now())),
  );
  authentication.forgetApplication(id);
}

/** Deletes an application with its keys, sessions and kept answers; nothing happens where there is none. */
export async function removeApplication(
  { database, authentication }: DeclaredApplicationParts,
  tenantId: string,
  id: string,
): Promise<void> {
  await deleteApplication(database, tenantId, id, logEntry(operatorOf(tenantId), 'delete', 'application', id));
  authentication.forgetApplication(id);
  await forgetAnswers(database, tenantId, id);
}
