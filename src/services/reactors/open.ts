import type { Database } from '../../data/database.ts';
import { getReactor, type ReactorRow } from '../../data/reactors.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError } from '../../domain/errors.ts';
import type { LogOperation } from '../../domain/logs.ts';
import type { Reactor } from '../../domain/reactors.ts';
import type { Audit } from '../audit.ts';
import { damaged, refusedAsDamaged } from '../damage.ts';
import { actorOf, logEntry } from '../log-entries.ts';
import type { ReactorVault } from './vault.ts';

/** 'not-found' for a reactor of this tenant that is not there, and alike for those of others. */
export function noSuchReactor(): DomainError {
  return new DomainError('not-found', 'There is no reactor with this id.');
}

interface StoredReactorParts {
  readonly database: Database;
  readonly vault: ReactorVault;
  readonly audit: Audit;
}

/** A reactor as it is stored, throws 'not-found'; and opened, unless it is damaged. */
export async function findReactor(
  { database, vault }: StoredReactorParts,
  { tenantId }: Caller,
  id: string,
): Promise<{ row: ReactorRow; reactor: Reactor | undefined }> {
  const row = await getReactor(database, tenantId, id);
  if (row === undefined) throw noSuchReactor();
  const [reactor] = await vault.open([row]);
  return { row, reactor };
}

/**
 * A reactor with its code and configuration. Where it is damaged, it is logged who asked for it and to what end, before
 * 'unprocessable' is thrown. Throws 'not-found'.
 */
export async function openReactor(
  parts: StoredReactorParts,
  caller: Caller,
  operation: LogOperation,
  id: string,
): Promise<Reactor> {
  const { reactor } = await findReactor(parts, caller, id);
  if (reactor !== undefined) return reactor;
  await parts.audit.record([refusedAsDamaged(logEntry(actorOf(caller), operation, 'reactor', id))]);
  throw damaged(`the reactor ${id}`);
}
