import { getApplication } from '../../../data/applications.ts';
import type { Database } from '../../../data/database.ts';
import { getTenant } from '../../../data/tenants.ts';
import { holdsAnywhere } from '../../../domain/access.ts';
import type { Caller } from '../../../domain/caller.ts';
import { DomainError } from '../../../domain/errors.ts';

/** Who asked, with what it may do now; or why nothing is done for it any more. */
export type Asker = { caller: Caller } | { gone: 'tenant' | 'application' };

export async function findAsker(
  database: Database,
  { tenantId, applicationId }: { tenantId: string; applicationId: string },
): Promise<Asker> {
  const [tenant, application] = await Promise.all([
    getTenant(database, tenantId),
    getApplication(database, tenantId, applicationId),
  ]);
  if (tenant === undefined) return { gone: 'tenant' };
  if (application === undefined) return { gone: 'application' };
  const { type: applicationType, permissions, rules } = application;
  const { type: tenantType, quotas, settings } = tenant;
  return {
    caller: {
      ...{ tenantId, tenantType, quotas, settings, applicationId, applicationType, permissions, rules },
      // No key makes the request any more.
      keyId: applicationId,
    },
  };
}

/** Throws 'forbidden' where it may use no tokens any more. */
export function permitUse(caller: Caller): void {
  if (!holdsAnywhere(caller, 'token:use')) {
    throw new DomainError('forbidden', 'The application does not have the permission token:use.');
  }
}

/** What is answered in the place of a result where the application that asked is deleted or has expired. */
export function askerGone(): DomainError {
  return new DomainError('unprocessable', 'The application that asked does not exist any more.');
}
