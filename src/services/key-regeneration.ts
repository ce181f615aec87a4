import { getApplication } from '../data/applications.ts';
import { type KeyReplacement, replaceOnlyKey } from '../data/key-replacement.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import { newApplicationKey } from './application-keys.ts';
import type { ApplicationParts, ApplicationWithKeys } from './applications.ts';
import { actorOf, logEntry } from './log-entries.ts';

function noSuchApplication(): DomainError {
  return new DomainError('not-found', 'There is no application with this id.');
}

// A key that a resource declares would be put back from its Secret: whoever regenerates a key wants the old one dead.
const REFUSALS: Record<Exclude<KeyReplacement, 'replaced'>, () => DomainError> = {
  'no-application': noSuchApplication,
  'not-one-key': () =>
    new DomainError('unprocessable', 'Only the key of an application that has exactly one key can be regenerated.'),
  declared: () => new DomainError('unprocessable', 'A resource declares the key of this application: rotate it there.'),
};

/**
 * Deletes the only key of an application, which stops working at once, and makes another one in the same transaction.
 *
 * Throws 'not-found'; 'unprocessable' where the application has more keys than one or none, or one that a resource
 * declares.
 */
export async function regenerateKey(parts: ApplicationParts, caller: Caller, id: string): Promise<ApplicationWithKeys> {
  const application = await getApplication(parts.database, caller.tenantId, id);
  if (application === undefined) throw noSuchApplication();
  const { stored, value } = newApplicationKey(caller, application, parts.clock.now());
  const actor = actorOf(caller);
  const outcome = await parts.database.transaction((transaction) =>
    replaceOnlyKey(transaction, stored, {
      logDeletion: (keyId) => logEntry(actor, 'delete', 'application_key', keyId),
      logCreation: logEntry(actor, 'create', 'application_key', stored.id),
    }),
  );
  if (outcome !== 'replaced') throw REFUSALS[outcome]();
  parts.authentication.forgetApplication(id);
  return { application, keys: [stored], key: value };
}
