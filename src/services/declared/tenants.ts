import type { Database } from '../../data/database.ts';
import { deleteTenant } from '../../data/tenant-deletion.ts';
import { upsertTenant } from '../../data/tenants.ts';
import type { TenantDeclaration } from '../../domain/declarations.ts';
import type { DataKeys } from '../../keys/data-keys.ts';
import type { Authentication } from '../authentication.ts';
import { logEntry, operatorOf } from '../log-entries.ts';

export interface DeclaredTenantParts {
  readonly database: Database;
  /** Of the sweeper. */
  readonly maintenance: Database;
  readonly authentication: Authentication;
  readonly dataKeys: DataKeys;
}

/** Makes a tenant what its declaration says; true where it was something else before. */
export async function putTenant(
  { database, authentication }: DeclaredTenantParts,
  id: string,
  declaration: TenantDeclaration,
): Promise<boolean> {
  const actor = operatorOf(id);
  const logs = [logEntry(actor, 'create', 'tenant', id), logEntry(actor, 'update', 'tenant', id)];
  const outcome = await upsertTenant(database, { id, declared: true, ...declaration }, logs);
  if (outcome === 'updated') authentication.forgetAll();
  return outcome !== 'unchanged';
}

/** Deletes a tenant with everything in it; its data keys go first, so that what a crash leaves cannot be read. */
export async function removeTenant(
  { database, maintenance, authentication, dataKeys }: DeclaredTenantParts,
  id: string,
): Promise<void> {
  dataKeys.forget(id);
  await deleteTenant({ database, maintenance }, id);
  // A request in flight may have asked for them again before they were deleted.
  dataKeys.forget(id);
  authentication.forgetAll();
}
