import { getInvocation } from '../../../data/invocations.ts';
import type { Caller } from '../../../domain/caller.ts';
import { DomainError } from '../../../domain/errors.ts';
import { damaged, refusedAsDamaged } from '../../damage.ts';
import { actorOf, logEntry } from '../../log-entries.ts';
import type { AsynchronousParts, InvocationAnswer } from './types.ts';

/** What there is of an invocation: how it was answered, or how far it has come. */
export type InvocationResult =
  { ended: true; answer: InvocationAnswer } | { ended: false; state: 'waiting' | 'running' };

/**
 * The result of an asynchronous invocation, for the application that asked for it alone, as long as it is kept. Throws
 * 'not-found', alike for those of others; 'unprocessable' where it is damaged. The read is logged before it leaves.
 */
export async function readResult(
  { database, invocation, vault }: AsynchronousParts,
  caller: Caller,
  { reactorId, id }: { reactorId: string; id: string },
): Promise<InvocationResult> {
  const { tenantId, applicationId } = caller;
  const row = await getInvocation(database, { tenantId, id, reactorId, applicationId });
  if (row === undefined) throw new DomainError('not-found', 'There is no invocation with this id.');
  const { state } = row;
  if (state === 'waiting' || state === 'running') return { ended: false, state };
  const answer = await vault.openResult(row);
  const entry = { ...logEntry(actorOf(caller), 'read', 'reactor', reactorId), message: 'reactor result read' };
  await invocation.audit.record([answer === undefined ? refusedAsDamaged(entry) : entry]);
  if (answer === undefined) throw damaged(`the result ${id}`);
  return { ended: true, answer };
}
