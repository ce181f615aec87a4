import type { Database } from '../../data/database.ts';
import { withinTenant } from '../../data/tenant-scope.ts';
import { deleteReactor, getReactor, listAllReactors, replaceReactor, upsertReactor } from '../../data/reactors.ts';
import { getTenant } from '../../data/tenants.ts';
import type { ReactorDeclaration, ReactorList, ReactorWorkload } from '../../domain/declarations.ts';
import { egressFaults, normalEgress } from '../../domain/egress.ts';
import type { EgressPolicy } from '../../domain/egress.ts';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import type { Reactor } from '../../domain/reactors.ts';
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

/** A policy as it is kept. Throws 'invalid' with every entry that cannot be. */
function checkEgress(policy: EgressPolicy | undefined): EgressPolicy | null {
  if (policy === undefined) return null;
  const violations = new ViolationCollector();
  for (const { index, fault } of egressFaults(policy)) violations.add(`egress.allow[${index}]`, fault);
  violations.throwIfAny();
  return normalEgress(policy);
}

/** Makes a reactor what its declaration says; true where it was something else before, or stored damaged. */
export async function putReactor(
  { database, vault, client, clock }: DeclaredReactorParts,
  tenantId: string,
  id: string,
  declaration: ReactorDeclaration,
): Promise<boolean> {
  const egress = checkEgress(declaration.egress);
  // Before anything is sealed: there are no keys to seal under without a tenant.
  if ((await getTenant(database, tenantId)) === undefined) {
    throw new DomainError('not-found', 'There is no tenant with this id.');
  }
  const { name, code, configuration, timeoutSeconds, scaling, memoryBytes } = declaration;
  const applicationId = declaration.applicationId ?? null;
  const unversioned = {
    ...{ tenantId, id, name, code, configuration, applicationId, timeoutSeconds, scaling, memoryBytes, egress },
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
 * Every reactor of every tenant, declared or made through the API, as its instances need it. Holds plain code. Of
 * damaged ones, the ids alone: whoever runs reactors must not take them for deleted.
 */
export async function listWorkloads({ maintenance, vault }: DeclaredReactorParts): Promise<ReactorList> {
  const rows = await listAllReactors(maintenance);
  // Each tenant's are opened with keys that only work for that tenant can see.
  const opened = await Promise.all(
    [...Map.groupBy(rows, ({ tenantId }) => tenantId)].map(([tenantId, ofTenant]) =>
      withinTenant(tenantId, () => vault.open(ofTenant)),
    ),
  );
  const reactors = opened.flat().filter((reactor) => reactor !== undefined);
  const whole = new Set(reactors.map(({ tenantId, id }) => `${tenantId}/${id}`));
  return {
    data: reactors.map(workloadOf),
    damaged: rows
      .filter(({ tenantId, id }) => !whole.has(`${tenantId}/${id}`))
      .map(({ tenantId, id }) => ({ tenantId, reactorId: id })),
  };
}

function workloadOf(reactor: Reactor): ReactorWorkload {
  const { tenantId, id, revision, name, code, configuration, timeoutSeconds, scaling, memoryBytes, egress } = reactor;
  return {
    ...{ tenantId, reactorId: id, revision, name, code, configuration, timeoutSeconds, scaling, memoryBytes },
    ...(egress === null ? {} : { egress }),
  };
}
