import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedInvocation } from '../../../data/invocation-claims.ts';
import {
  beginInvocation,
  endInvocation,
  forgetInvocation,
  postponeInvocation,
} from '../../../data/invocation-progress.ts';
import { getInvocation } from '../../../data/invocations.ts';
import { withinTenant } from '../../../data/tenant-scope.ts';
import type { Caller } from '../../../domain/caller.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { FAILURES } from '../../../reactors/errors.ts';
import type { InvocationOutcome } from '../../../reactors/types.ts';
import { damaged } from '../../damage.ts';
import { type ReactFailure, runReactor, takeOutcome } from '../react.ts';
import { askerGone, findAsker, permitUse } from './asker.ts';
import { LEASE_SECONDS } from './leases.ts';
import type { AsynchronousParts, InvocationAnswer } from './types.ts';

/** How long the result of an invocation is kept after its code has ended. */
export const RESULT_RETENTION_SECONDS = 24 * 3600;

/** An invocation that found no instance for this long is over, in ms. */
const LONGEST_WAIT_MS = 3600_000;
/** Between tries to find an instance, in s: doubled each time, up to the longest. */
const FIRST_PAUSE_SECONDS = 1;
const LONGEST_PAUSE_SECONDS = 30;
/** How often a result is offered to a database that does not answer. */
const END_TRIES = 30;
const END_PAUSE_MS = 1_000;

export type RunEnd = 'completed' | 'failed' | 'interrupted' | 'postponed' | 'lost';

/** Whether its code ran to its end is not known. It is not run again: what it did may not bear being done twice. */
const INTERRUPTED: ReactFailure = {
  kind: 'failed',
  status: 502,
  title: 'The invocation was interrupted.',
  detail: 'The process that looked after it ended while code may have run. It is not run again.',
};

const UNFORESEEN: ReactFailure = { kind: 'failed', status: 500, title: 'The invocation failed.' };

/** Nothing was run, and it may be tried again. */
const NOTHING_RAN = Symbol('nothing ran');

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable';
}

interface Result {
  answer: InvocationAnswer;
  /** How long the tenant keeps card verification codes, where one was among what the code was given. */
  codeRetentionSeconds?: number | undefined;
}

/**
 * Keeps the result, through a moment in which the database or the key management cannot be reached. One that may hold
 * a card verification code is kept no longer than the code itself, nor its key (PCI DSS 4.0.1, 3.3.1).
 */
async function end(
  { database, vault }: AsynchronousParts,
  claimed: ClaimedInvocation,
  { answer, codeRetentionSeconds = Infinity }: Result,
): Promise<boolean> {
  const seconds = Math.min(RESULT_RETENTION_SECONDS, codeRetentionSeconds);
  const seal = (): Promise<Buffer> =>
    codeRetentionSeconds === Infinity
      ? vault.sealResult(claimed, answer)
      : vault.sealPassingResult(claimed, answer, codeRetentionSeconds);
  for (let tries = 1; ; tries++) {
    try {
      return await endInvocation(database, claimed, await seal(), seconds);
    } catch (error) {
      if (!isUnavailable(error) || tries === END_TRIES) throw error;
      await delay(END_PAUSE_MS);
    }
  }
}

interface Attempt {
  caller: Caller;
  args: JsonObject;
  signal: AbortSignal;
}

/**
 * Runs the code at most once. That it begins is stored before it can, by a statement that only the holder of the lease
 * succeeds with.
 */
async function attempt(
  parts: AsynchronousParts,
  claimed: ClaimedInvocation,
  { caller, args, signal }: Attempt,
): Promise<Result | typeof NOTHING_RAN | 'interrupted'> {
  const { database, invocation, surface, logger } = parts;
  const { reactorId, tenantId, traceId } = claimed;
  let [begun, closed, holdsCode] = [false, false, false];
  const resultOf = (answer: InvocationAnswer): Result =>
    holdsCode ? { answer, codeRetentionSeconds: caller.quotas.cvcRetentionSeconds } : { answer };

  // Called wherever the pool has found an instance, perhaps on another request's behalf.
  async function begin(): Promise<boolean> {
    if (begun) return !closed;
    const stored = await withinTenant(tenantId, () => beginInvocation(database, claimed, LEASE_SECONDS));
    if (closed) return false;
    return (begun = stored);
  }
  const aborted = new Promise<'aborted'>((resolve) =>
    signal.addEventListener('abort', () => resolve('aborted'), { once: true }),
  );
  async function run(): Promise<Result | typeof NOTHING_RAN> {
    const outcome: InvocationOutcome = await runReactor(
      ...([invocation, caller, { reactorId, args, traceId }, surface] as const),
      { begin, signal, onCode: () => (holdsCode = true) },
    );
    if (outcome.kind === 'unavailable') return NOTHING_RAN;
    return resultOf(surface.present(await takeOutcome(invocation, caller, outcome, surface), traceId));
  }

  try {
    permitUse(caller);
    const ended = await Promise.race([run(), aborted]);
    if (ended !== 'aborted') return ended;
    closed = true;
    return begun ? 'interrupted' : NOTHING_RAN;
  } catch (error) {
    if (isUnavailable(error) && !begun) return NOTHING_RAN;
    if (error instanceof DomainError) return resultOf(surface.refuse(error, traceId));
    logger.error({ traceId, error }, 'Asynchronous invocation failed unforeseen');
    return resultOf(surface.present(UNFORESEEN, traceId));
  }
}

async function postpone(parts: AsynchronousParts, claimed: ClaimedInvocation, signal: AbortSignal): Promise<RunEnd> {
  const { database, surface, clock } = parts;
  if (clock.now() - claimed.createdAt.getTime() > LONGEST_WAIT_MS) {
    const answer = surface.present({ kind: 'failed', ...FAILURES.unavailable }, claimed.traceId);
    return (await end(parts, claimed, { answer })) ? 'failed' : 'lost';
  }
  const pause = Math.min(FIRST_PAUSE_SECONDS * 2 ** (claimed.attempts - 1), LONGEST_PAUSE_SECONDS);
  // A process that stops leaves it to the others at once.
  const wait = signal.aborted ? { seconds: 0, isCounted: false } : { seconds: pause, isCounted: true };
  await postponeInvocation(database, claimed, wait);
  return 'postponed';
}

/** What is to be run of a claimed invocation; or the answer, where nothing is to be run. */
async function prepare(
  { database, vault, surface }: AsynchronousParts,
  claimed: ClaimedInvocation,
): Promise<Omit<Attempt, 'signal'> | { answer: InvocationAnswer } | 'forgotten'> {
  const { traceId } = claimed;
  const asker = await findAsker(database, claimed);
  if ('gone' in asker) {
    if (asker.gone === 'application') return { answer: surface.refuse(askerGone(), traceId) };
    await forgetInvocation(database, claimed);
    return 'forgotten';
  }
  const row = await getInvocation(database, claimed);
  if (row === undefined) return 'forgotten';
  const args = await vault.openArgs(row);
  if (args === undefined) return { answer: surface.refuse(damaged(`the invocation ${row.id}`), traceId) };
  return { caller: asker.caller, args };
}

/**
 * Brings a claimed invocation to its end: its code runs with what the application that asked may do now, or has run in
 * a process that is gone. `signal` is aborted where this process stops, or the lease is lost.
 */
export async function runInvocation(
  parts: AsynchronousParts,
  claimed: ClaimedInvocation,
  signal: AbortSignal,
): Promise<RunEnd> {
  const { surface } = parts;
  const { traceId } = claimed;
  const finish = async (result: Result, ended: RunEnd): Promise<RunEnd> =>
    (await end(parts, claimed, result)) ? ended : 'lost';
  const interrupt = (): Promise<RunEnd> => finish({ answer: surface.present(INTERRUPTED, traceId) }, 'interrupted');

  if (claimed.state === 'running') return interrupt();
  const prepared = await prepare(parts, claimed);
  if (prepared === 'forgotten') return 'lost';
  if ('answer' in prepared) return finish(prepared, 'failed');
  const ended = await attempt(parts, claimed, { ...prepared, signal });
  if (ended === NOTHING_RAN) return postpone(parts, claimed, signal);
  if (ended === 'interrupted') return interrupt();
  return finish(ended, ended.answer.status < 400 ? 'completed' : 'failed');
}
