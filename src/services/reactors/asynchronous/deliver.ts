import type { ClaimedInvocation } from '../../../data/invocation-claims.ts';
import { forgetInvocation, postponeInvocation, settleInvocation } from '../../../data/invocation-progress.ts';
import { getInvocation, type InvocationRow } from '../../../data/invocations.ts';
import { readRetryAfter, waitAfter } from '../../../domain/delivery-schedule.ts';
import { webhookHeaders } from '../../../domain/webhook-signature.ts';
import { EgressError } from '../../../platform/egress/errors.ts';
import { logEntry } from '../../log-entries.ts';
import { askerGone, findAsker } from './asker.ts';
import type { AsynchronousParts, CallbackResponse, InvocationAnswer } from './types.ts';

/** What a receiver wants to hear no more of (Standard Webhooks). */
const GONE = 410;
/** Before a result is looked at again that a failure of this service held up. */
const OWN_PAUSE_SECONDS = 15;

/**
 * How an attempt to deliver ended. `redirect`: an answer of 3xx, which is not followed. `status`: any other that is not
 * 2xx. `refused`: nothing was sent, because the address is not one that is sent to. `unreachable`: no answer came.
 */
export type AttemptEnd = 'delivered' | 'stopped' | 'redirect' | 'status' | 'refused' | 'unreachable' | 'undeliverable';

/** What became of an attempt, and whether nothing more is sent. */
export interface DeliveryEnd {
  attempt: AttemptEnd | 'postponed' | 'lost';
  givenUp: boolean;
}

const REFUSALS = new Set(['url', 'userinfo', 'scheme', 'host', 'port', 'address']);

function endOf(response: CallbackResponse): AttemptEnd {
  if (response.status >= 200 && response.status < 300) return 'delivered';
  if (response.status === GONE) return 'stopped';
  return response.status >= 300 && response.status < 400 ? 'redirect' : 'status';
}

/** The event as it is sent (Standard Webhooks 1.0.0): what the caller would have been answered, and to what request. */
export function eventOf(
  row: Pick<InvocationRow, 'id' | 'reactorId' | 'traceId' | 'endedAt'>,
  answer: InvocationAnswer,
) {
  const { status, headers = {}, body } = answer;
  return {
    type: status < 400 ? 'reactor.completed' : 'reactor.failed',
    timestamp: row.endedAt!.toISOString(),
    data: {
      ...{ request_id: row.id, reactor_id: row.reactorId, trace_id: row.traceId, status },
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    },
  };
}

interface Letter {
  url: string;
  body: string;
  secrets: string[];
}

/** Undefined where it can never be sent. */
async function letterOf(
  parts: AsynchronousParts,
  row: InvocationRow,
  isAskerGone: boolean,
): Promise<Letter | undefined> {
  const { vault, surface, secrets } = parts;
  const [url, result, signing] = await Promise.all([
    vault.openCallbackUrl(row),
    isAskerGone ? surface.refuse(askerGone(), row.traceId) : vault.openResult(row),
    secrets.signing(row.tenantId),
  ]);
  // Without a signature, the receiver could not tell it from a forged one.
  if (url === undefined || result === undefined || signing.length === 0) return undefined;
  return { url, body: JSON.stringify(eventOf(row, result)), secrets: signing };
}

async function send(
  { post, clock, invocation }: AsynchronousParts,
  row: InvocationRow,
  { url, body, secrets }: Letter,
  signal: AbortSignal,
): Promise<{ end: AttemptEnd; retryAfterMs?: number | undefined }> {
  const { tenantId, reactorId, id } = row;
  const entry = logEntry({ tenantId, actorId: null, actorType: 'system' }, 'read', 'reactor', reactorId);
  await invocation.audit.record([{ ...entry, message: 'reactor result sent' }]);
  const headers = {
    ...webhookHeaders({ id, sentAt: clock.now(), body }, secrets),
    'content-type': 'application/json',
    'user-agent': 'tokenkeep',
  };
  try {
    const response = await post({ url, headers, body, signal });
    return { end: endOf(response), retryAfterMs: readRetryAfter(response.retryAfter, clock.now()) };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return { end: REFUSALS.has(error.rule) ? 'refused' : 'unreachable' };
  }
}

/**
 * Tries once to deliver the result of a claimed invocation, and stores what became of it. At least once, in all: where
 * the process ends before that is stored, it is delivered again, under the same id. Rejects where a part of this
 * service cannot be reached; that costs the receiver none of its attempts.
 */
export async function deliverResult(
  parts: AsynchronousParts,
  claimed: ClaimedInvocation,
  signal: AbortSignal,
): Promise<DeliveryEnd> {
  try {
    return await attempt(parts, claimed, signal);
  } catch (error) {
    await postponeInvocation(parts.database, claimed, { seconds: OWN_PAUSE_SECONDS, isCounted: false });
    throw error;
  }
}

async function attempt(
  parts: AsynchronousParts,
  claimed: ClaimedInvocation,
  signal: AbortSignal,
): Promise<DeliveryEnd> {
  const { database } = parts;
  const asker = await findAsker(database, claimed);
  const isTenantGone = 'gone' in asker && asker.gone === 'tenant';
  if (isTenantGone) await forgetInvocation(database, claimed);
  const row = isTenantGone ? undefined : await getInvocation(database, claimed);
  if (row === undefined) return { attempt: 'lost', givenUp: false };
  const letter = await letterOf(parts, row, 'gone' in asker);
  if (letter === undefined) {
    await settleInvocation(database, claimed, 'given_up');
    return { attempt: 'undeliverable', givenUp: true };
  }
  const { end, retryAfterMs } = await send(parts, row, letter, signal);
  if (end === 'delivered' || end === 'stopped') {
    const isMine = await settleInvocation(database, claimed, end);
    return { attempt: isMine ? end : 'lost', givenUp: false };
  }
  // An attempt that this process broke off says nothing about the receiver.
  if (signal.aborted) {
    await postponeInvocation(database, claimed, { seconds: 0, isCounted: false });
    return { attempt: 'postponed', givenUp: false };
  }
  const waitMs = waitAfter({ attempt: claimed.attempts, retryAfterMs, random: Math.random() });
  if (waitMs === undefined) await settleInvocation(database, claimed, 'given_up');
  else await postponeInvocation(database, claimed, { seconds: waitMs / 1000, isCounted: true });
  return { attempt: end, givenUp: waitMs === undefined };
}
