import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Queryable, Statement } from './database.ts';
import type { ClaimedInvocation } from './invocation-claims.ts';
import type { InvocationState } from './invocations.ts';

/** What names a claimed row, as long as it is this process's. */
type Leased = Pick<ClaimedInvocation, 'tenantId' | 'id' | 'lease'>;

const MINE = 'tenant_id = $1 and invocation_id = $2 and lease = $3';

async function change(
  queryable: Queryable,
  statement: Statement,
  { tenantId, id, lease }: Leased,
  ...values: unknown[]
): Promise<boolean> {
  return (await queryable.run(statement, [tenantId, id, lease, ...values])).length > 0;
}

const RENEW: Statement = {
  name: 'renew-invocation-lease',
  text: `
    update reactor_invocations set due_at = now() + make_interval(secs => $4)
    where ${MINE} and due_at is not null
    returning invocation_id`,
};

/** Puts the end of a lease off. False where it is another's by now. */
export function renewLease(queryable: Queryable, leased: Leased, leaseSeconds: number): Promise<boolean> {
  return change(queryable, RENEW, leased, leaseSeconds);
}

const BEGIN: Statement = {
  name: 'begin-invocation',
  text: `
    update reactor_invocations set state = 'running', due_at = now() + make_interval(secs => $4)
    where ${MINE} and state = 'waiting' returning invocation_id`,
};

/** From now on code may have run. False where it is another's by now: then no code must run. */
export function beginInvocation(queryable: Queryable, leased: Leased, leaseSeconds: number): Promise<boolean> {
  return change(queryable, BEGIN, leased, leaseSeconds);
}

const POSTPONE: Statement = {
  name: 'postpone-invocation',
  text: `
    update reactor_invocations
    set state = case state when 'running' then 'waiting' else state end, lease = null,
      due_at = now() + make_interval(secs => $4), attempts = case when $5 then attempts else attempts - 1 end
    where ${MINE} and state in ('waiting', 'running', 'done') returning invocation_id`,
};

/**
 * Gives one up until later. Only where no code has run, if it was to be run. Where nothing was tried after all, the
 * claim is not counted.
 */
export function postponeInvocation(
  queryable: Queryable,
  leased: Leased,
  { seconds, isCounted }: { seconds: number; isCounted: boolean },
): Promise<boolean> {
  return change(queryable, POSTPONE, leased, seconds, isCounted);
}

const END: Statement = {
  name: 'end-invocation',
  text: `
    update reactor_invocations
    set state = 'done', args = null, result = $4, sealed_format = ${SEALED_FORMAT}, attempts = 0, lease = null,
      due_at = now(), ended_at = now(), expires_at = now() + make_interval(secs => $5)
    where ${MINE} and state in ('waiting', 'running') returning invocation_id`,
};

/** Stores the sealed result, to be delivered and kept for a while. False where it is another's by now. */
export function endInvocation(
  queryable: Queryable,
  leased: Leased,
  result: Buffer,
  retentionSeconds: number,
): Promise<boolean> {
  return change(queryable, END, leased, result, retentionSeconds);
}

const SETTLE: Statement = {
  name: 'settle-invocation',
  text: `
    update reactor_invocations set state = $4, callback_url = null, lease = null, due_at = null
    where ${MINE} and state = 'done' returning invocation_id`,
};

/** Nothing more is sent. False where it is another's by now. */
export function settleInvocation(
  queryable: Queryable,
  leased: Leased,
  state: Extract<InvocationState, 'delivered' | 'given_up' | 'stopped'>,
): Promise<boolean> {
  return change(queryable, SETTLE, leased, state);
}

const FORGET: Statement = {
  name: 'forget-invocation',
  text: `delete from reactor_invocations where ${MINE} returning invocation_id`,
};

/** Removes one whose tenant is gone. */
export function forgetInvocation(queryable: Queryable, leased: Leased): Promise<boolean> {
  return change(queryable, FORGET, leased);
}
