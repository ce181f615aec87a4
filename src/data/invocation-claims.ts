import type { Queryable, Statement } from './database.ts';
import type { InvocationKey, InvocationState } from './invocations.ts';
import { runForCount } from './row-counts.ts';

/** What is looked after apart: code that is to run, and results that are to be delivered. */
export const STAGES = {
  run: ['waiting', 'running'],
  deliver: ['done'],
} as const satisfies Record<string, readonly InvocationState[]>;
export type Stage = keyof typeof STAGES;

/** An invocation that is this process's to look after, as long as it renews the lease. */
export interface ClaimedInvocation extends InvocationKey {
  traceId: string;
  /** As it was found: `running` was left so by a process that is gone. */
  state: InvocationState;
  /** Claims in its stage, this one included. */
  attempts: number;
  createdAt: Date;
  lease: string;
}

export interface ClaimRequest {
  stage: Stage;
  /** UUID, new for each claim. */
  lease: string;
  leaseSeconds: number;
  /** Whose invocations are left to others, or for later. */
  busyTenants: readonly string[];
  busyReactors: readonly string[];
}

const CLAIM: Statement = {
  name: 'claim-invocation',
  text: `
    with due as (
      select tenant_id, invocation_id from reactor_invocations
      where state = any ($1::text[]) and due_at <= now()
        and not tenant_id = any ($4::uuid[]) and not reactor_id = any ($5::uuid[])
      order by due_at limit 1 for update skip locked
    )
    update reactor_invocations i
    set lease = $2, due_at = now() + make_interval(secs => $3), attempts = i.attempts + 1
    from due d where i.tenant_id = d.tenant_id and i.invocation_id = d.invocation_id
    returning i.tenant_id as "tenantId", i.invocation_id as "id", i.reactor_id as "reactorId",
      i.application_id as "applicationId", i.trace_id as "traceId", i.state, i.attempts,
      i.created_at::timestamptz as "createdAt", i.lease`,
};

/** Claims what has been due for longest, of any tenant. Undefined where nothing is. */
export async function claimInvocation(
  maintenance: Queryable,
  { stage, lease, leaseSeconds, busyTenants, busyReactors }: ClaimRequest,
): Promise<ClaimedInvocation | undefined> {
  const values = [STAGES[stage], lease, leaseSeconds, busyTenants, busyReactors];
  const [claimed] = await maintenance.run<ClaimedInvocation>(CLAIM, values);
  return claimed;
}

const SWEEP: Statement = {
  text: `
    with due as (
      select ctid from reactor_invocations where expires_at <= now() order by expires_at limit $1
      for update skip locked
    ), removed as (
      delete from reactor_invocations where ctid = any (array(select ctid from due)) returning invocation_id
    )
    select count(*)::integer as count from removed`,
};

/** Removes at most `limit` that are past their retention, whatever their state; gives how many. */
export function sweepInvocations(maintenance: Queryable, limit: number): Promise<number> {
  return runForCount(maintenance, SWEEP, [limit]);
}

export interface Backlog {
  state: InvocationState;
  count: number;
  /** Of the one that was accepted first. */
  oldestSeconds: number;
}

const BACKLOG: Statement = {
  name: 'backlog-of-invocations',
  text: `
    select state, count(*)::integer as count, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds"
    from reactor_invocations where due_at is not null group by state`,
};

/** What is to be run or delivered, of all tenants. */
export function readBacklog(maintenance: Queryable): Promise<Backlog[]> {
  return maintenance.run<Backlog>(BACKLOG);
}
