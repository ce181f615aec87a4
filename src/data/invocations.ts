import type { LogEntry } from '../domain/logs.ts';
import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';

/**
 * How far an asynchronous invocation has come. `waiting`: no code has run. `running`: code may have run. `done`: the
 * result is there and is being delivered. `stopped`: the receiver wants no more of it.
 */
export type InvocationState = 'waiting' | 'running' | 'done' | 'delivered' | 'given_up' | 'stopped';

/** Which invocation of whom. */
export interface InvocationKey {
  tenantId: string;
  id: string;
  reactorId: string;
  /** Who asked. */
  applicationId: string;
}

export interface NewInvocation extends InvocationKey {
  traceId: string;
  /** Sealed. */
  args: Buffer;
  /** Sealed. */
  callbackUrl: Buffer;
}

/** An invocation as it is stored. */
export interface InvocationRow extends InvocationKey {
  traceId: string;
  state: InvocationState;
  /** Sealed; null once the code has ended. */
  args: Buffer | null;
  /** Sealed; null once nothing more is sent there. */
  callbackUrl: Buffer | null;
  /** Sealed; null until the code has ended. */
  result: Buffer | null;
  /** Of all three. */
  sealedFormat: number;
  /** Null until the code has ended. */
  endedAt: Date | null;
}

// Counted up to the limit and no further.
const INSERT: Statement = {
  name: 'insert-invocation',
  text: `
    with accepted as (
      insert into reactor_invocations (tenant_id, invocation_id, reactor_id, application_id, trace_id, state, args,
        callback_url, sealed_format, due_at)
      select $1, $2, $3, $4, $5, 'waiting', $6, $7, ${SEALED_FORMAT}, now()
      where (
        select count(*) from (
          select from reactor_invocations where tenant_id = $1 and expires_at is null limit $8::integer
        ) unended
      ) < $8::integer
      returning invocation_id
    ), logged as (${insertLogEntries(9, 'exists (select from accepted)')})
    select invocation_id from accepted`,
};

/** Stores one that is to be run. False, and nothing is stored, where the tenant has `most` that have not ended. */
export async function insertInvocation(
  queryable: Queryable,
  { tenantId, id, reactorId, applicationId, traceId, args, callbackUrl }: NewInvocation,
  most: number,
  log: LogEntry,
): Promise<boolean> {
  const values = [tenantId, id, reactorId, applicationId, traceId, args, callbackUrl, most];
  return (await queryable.run(INSERT, [...values, ...logParameters([log])])).length > 0;
}

const COLUMNS = `
  i.tenant_id as "tenantId", i.invocation_id as "id", i.reactor_id as "reactorId",
  i.application_id as "applicationId", i.trace_id as "traceId", i.state, i.args, i.callback_url as "callbackUrl",
  i.result, i.sealed_format as "sealedFormat", i.ended_at as "endedAt"`;

const GET: Statement = {
  name: 'get-invocation',
  text: `
    select ${COLUMNS} from reactor_invocations i
    where i.tenant_id = $1 and i.invocation_id = $2 and i.reactor_id = $3 and i.application_id = $4
      and (i.expires_at is null or i.expires_at > now())`,
};

/** Undefined where there is none, where it was another application that asked, and past its retention. */
export async function getInvocation(
  queryable: Queryable,
  { tenantId, id, reactorId, applicationId }: InvocationKey,
): Promise<InvocationRow | undefined> {
  const [row] = await queryable.run<InvocationRow>(GET, [tenantId, id, reactorId, applicationId]);
  return row;
}
