import type { Database } from '../../data/database.ts';
import { withinTenant } from '../../data/tenant-scope.ts';
import { deleteReactor, getReactor, listAllReactors, replaceReactor, upsertReactor } from '../../data/reactors.ts';
import { getTenant } from '../../data/tenants.ts';
import type { ReactorDeclaration, ReactorWorkload } from '../../domain/declarations.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ReactorClient } from '../../reactors/client.ts';
import { logEntry, operatorOf } from '../log-entries.ts';
import { checkApplication, checkCode } from '../reactors/manage.ts';
import type { ReactorVault } from '../reactors/vault.ts';

export interface DeclaredReactorParts {
  readonly database: Database;
  /** Of the sweeper. */
  readonly maintenance: Database;
  readonly vault: ReactorVault;
  readonly client: ReactorClient;
  readonly clock: Clock;
}

/** Makes a reactor what its declaration says; true where it was something else before, or stored damaged. */
export async function putReactor(
  { database, vault, client, clock }: DeclaredReactorParts,
  tenantId: string,
  id: string,
  declaration: ReactorDeclaration,
): Promise<boolean> {
  // Before anything is sealed: there are no keys to seal under without a tenant.
  if ((await getTenant(database, tenantId)) === undefined) {
    throw new DomainError('not-found', 'There is no tenant with this id.');
  }
  const { name, code, configuration, timeoutSeconds, scaling, memoryBytes } = declaration;
  const applicationId = declaration.applicationId ?? null;
  const unversioned = {
    ...{ tenantId, id, name, code, configuration, applicationId, timeoutSeconds, scaling, memoryBytes },
    declared: true,
    createdBy: null,
    createdAt: new Date(clock.now()),
  };
  const reactor = { ...unversioned, revision: await vault.revisionOf(unversioned) };
  if (applicationId !== null) await checkApplication(database, tenantId, applicationId);
  const stored = await getReactor(database, tenantId, id);
  // The check takes a process of its own; what is stored has passed it.
  if (stored?.revision !== reactor.revision) await checkCode(client, code);

  const actor = operatorOf(tenantId);
  const logs = [logEntry(actor, 'create', 'reactor', id), logEntry(actor, 'update', 'reactor', id)] as const;
  const sealed = { ...reactor, ...(await vault.seal(reactor)) };
  // Of equal revision, it would stay as it is.
  const mended = stored !== undefined && (await vault.open([stored]))[0] === undefined;
  if (mended) {
    await replaceReactor(database, { ...sealed, modifiedBy: null, modifiedAt: reactor.createdAt }, logs[1]);
  }
  return (await upsertReactor(database, sealed, logs)) !== 'unchanged' || mended;
}

/** Deletes a reactor; nothing happens where there is none. */
export async function removeReactor({ database }: DeclaredReactorParts, tenantId: string, id: string): Promise<void> {
  await deleteReactor(database, tenantId, id, logEntry(operatorOf(tenantId), 'delete', 'reactor', id));
}

/**
 * Every reactor of every tenant, declared or made through the API, as its instances need it. Holds plain code. Damaged
 * ones are left out, and do not run: the others go on.
 */
export async function listWorkloads({ maintenance, vault }: DeclaredReactorParts): Promise<ReactorWorkload[]> {
  const reactors = Map.groupBy(await listAllReactors(maintenance), ({ tenantId }) => tenantId);
  // Each tenant's are opened with keys that only work for that tenant can see.
  const opened = await Promise.all(
    [...reactors].map(([tenantId, rows]) => withinTenant(tenantId, () => vault.open(rows))),
  );
  return opened
    .flat()
    .filter((reactor) => reactor !== undefined)
    .map(({ tenantId, id, revision, name, code, configuration, timeoutSeconds, scaling, memoryBytes }) => ({
      ...{ tenantId, reactorId: id, revision, name, code, configuration, timeoutSeconds, scaling, memoryBytes },
    }));
}
