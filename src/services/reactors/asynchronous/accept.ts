import { randomUUID } from 'node:crypto';
import { insertInvocation } from '../../../data/invocations.ts';
import type { Caller } from '../../../domain/caller.ts';
import { DomainError, invalid } from '../../../domain/errors.ts';
import { actorOf, logEntry } from '../../log-entries.ts';
import { openReactor } from '../open.ts';
import { resolveArguments, type ReactRequest } from '../react.ts';
import { faultOfCallbackUrl } from './callback-url.ts';
import type { AsynchronousParts } from './types.ts';

/** Invocations of one tenant that have been accepted and have not ended. */
export const MOST_UNENDED = 1_000;

/**
 * Takes on an invocation that nobody waits for; gives the id under which its result is read. Everything that a caller
 * who waits would be refused for before the code begins, it is refused for at once. What its expressions stand for is
 * looked at, logged as used, and forgotten: it is looked up again when the code runs.
 *
 * Throws 'forbidden' for a session, which ends before its invocation may have run; 'rate-limited' where too many of the
 * tenant's wait.
 */
export async function acceptInvocation(
  { database, invocation, vault, surface, hosts }: AsynchronousParts,
  caller: Caller,
  { reactorId, args, traceId, callbackUrl }: ReactRequest & { callbackUrl: string },
): Promise<string> {
  if (caller.sessionId !== undefined) {
    throw new DomainError('forbidden', 'A session cannot invoke a reactor asynchronously.');
  }
  const fault = faultOfCallbackUrl(callbackUrl, hosts);
  if (fault !== undefined) throw invalid('callback_url', fault);
  const reactor = await openReactor(invocation, caller, 'react', reactorId);
  await resolveArguments(invocation, caller, reactor, args, surface.render);
  const { tenantId, applicationId } = caller;
  const key = { tenantId, id: randomUUID(), reactorId, applicationId };
  const sealed = await vault.sealRequest(key, { args, callbackUrl });
  const entry = logEntry(actorOf(caller), 'react', 'reactor', reactorId);
  const log = { ...entry, message: 'asynchronous invocation of reactor accepted' };
  if (!(await insertInvocation(database, { ...key, traceId, ...sealed }, MOST_UNENDED, log))) {
    throw new DomainError('rate-limited', `${MOST_UNENDED} asynchronous invocations have not ended; wait for some.`);
  }
  return key.id;
}
