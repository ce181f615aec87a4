import { randomUUID } from 'node:crypto';
import type { Database } from '../data/database.ts';
import { type Claim, claimSlot, releaseSlot, storeAnswer, type StoredAnswer } from '../data/idempotent-answers.ts';
import type { Grants } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import { findExcess } from '../domain/grants-cover.ts';
import type { KeyedHasher } from '../keys/keyed-hashes.ts';
import type { Sealer } from '../keys/sealing.ts';
import type { Logger } from '../platform/logger.ts';
import type { Audit } from './audit.ts';
import { refusedAsDamaged } from './damage.ts';
import { type AnswerVault, createAnswerVault, type KeptAnswer } from './kept-answers.ts';
import { actorOf, logEntry } from './log-entries.ts';

export interface IdempotentRequest {
  readonly caller: Caller;
  /** As the caller chose it. */
  readonly key: string;
  /** Method and path: a key belongs to the operation that it was first used for. */
  readonly operation: string;
  readonly traceId: string;
}

/** An answer, and whether no copy of it may be kept. */
export type GivenAnswer = KeptAnswer & { readonly unkept?: boolean };

/** Answers of requests that carry an idempotency key. */
export interface Idempotency {
  /**
   * Does `work`, or gives again the answer that it once gave under this key: the first successful one (2xx) of the
   * caller within 24 hours, on whatever replica. Failures are not kept, nor are answers that say so.
   *
   * Two requests with one key never work at the same time, and what has succeeded is not repeated; save where the
   * process ends, or Postgres cannot be reached, between the effect and the storing of its answer, which is one
   * statement later. Then, once the lease has run out, the key is free again, and another request repeats the effect.
   * So it does where `work` fails although its effect was committed: where only the confirmation was lost.
   *
   * Throws 'conflict' where a request with the key is under way, where the key belongs to another operation, and where
   * the answer was too large to be kept, or is damaged: the effect has been, and is not repeated; 'forbidden' where the
   * caller may do less than when it got the answer.
   */
  once(request: IdempotentRequest, work: () => Promise<KeptAnswer>): Promise<{ answer: KeptAnswer; replayed: boolean }>;
}

export interface IdempotencyOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly hasher: KeyedHasher;
  readonly audit: Audit;
  readonly logger: Logger;
}

const RETENTION_SECONDS = 24 * 3600;

/**
 * How long a request whose process has died holds its key. Longer than any request lives: a reactor runs for up to 30
 * s, may wait 10 s for an instance, and is followed by statements of at most 12 s each.
 */
const LEASE_SECONDS = 120;

/** Texts of the refusals. None tells what the first request was: it may not have been for these eyes. */
const UNDER_WAY = 'A request with this idempotency key is under way.';
const OTHER_OPERATION = 'This idempotency key was used for another operation.';
const TOO_LARGE = 'The request with this idempotency key succeeded; its answer was too large to be kept.';
const DAMAGED = 'The request with this idempotency key succeeded; the answer that was kept of it is damaged.';
const LESS_ACCESS = 'The access of the caller has been narrowed since the answer under this idempotency key was given.';

/**
 * A replay shows what an earlier request showed, so it must not show what this one could not: tokens of a container
 * that has been taken away since, or in plaintext what is masked now.
 */
function mayStillSee(before: Grants, now: Grants): boolean {
  return findExcess(before, now).length === 0;
}

interface ReplayParts {
  readonly vault: AnswerVault;
  readonly audit: Audit;
}

/** It is the owner of the key whose answer was damaged. */
async function refuseDamaged(audit: Audit, { caller }: IdempotentRequest): Promise<never> {
  const actor = actorOf(caller);
  const owner = caller.sessionId === undefined ? 'application' : 'session';
  const entry = logEntry(actor, 'read', owner, actor.actorId!);
  await audit.record([refusedAsDamaged({ ...entry, message: 'kept answer read' })]);
  throw new DomainError('conflict', DAMAGED);
}

async function replay({ vault, audit }: ReplayParts, claim: Claim, stored: StoredAnswer, request: IdempotentRequest) {
  const kept = await vault.open(claim, stored);
  if (kept === undefined) return refuseDamaged(audit, request);
  if (kept.operation !== request.operation) throw new DomainError('conflict', OTHER_OPERATION);
  if (!mayStillSee(kept.access, request.caller)) throw new DomainError('forbidden', LESS_ACCESS);
  if (kept.answer === null) throw new DomainError('conflict', TOO_LARGE);
  return { answer: kept.answer, replayed: true };
}

export function createIdempotency({ database, sealer, hasher, audit, logger }: IdempotencyOptions): Idempotency {
  const vault = createAnswerVault(sealer, hasher);

  async function release(claim: Claim, traceId: string): Promise<void> {
    await releaseSlot(database, claim).catch((error: unknown) =>
      logger.warn({ traceId, error }, 'Idempotency key not freed; it is once its lease has run out'),
    );
  }

  // The effect has happened: the caller is to learn of it, whatever becomes of the copy.
  async function keep(claim: Claim, request: IdempotentRequest, answer: KeptAnswer): Promise<void> {
    const { traceId } = request;
    try {
      const sealed = await vault.seal(claim, request, answer);
      if (await storeAnswer(database, claim, sealed, RETENTION_SECONDS)) return;
      logger.warn(
        { traceId },
        'Answer not kept under its idempotency key: the request outlived its lease or its application',
      );
    } catch (error) {
      logger.warn({ traceId, error }, 'Answer not kept under its idempotency key');
    }
  }

  return {
    async once(request, work) {
      const claim = { ...(await vault.slotOf(request.caller, request.key)), claim: randomUUID() };
      const found = await claimSlot(database, claim, LEASE_SECONDS);
      if (found === 'under-way') throw new DomainError('conflict', UNDER_WAY);
      if (found !== 'claimed') return replay({ vault, audit }, claim, found, request);
      let answer: GivenAnswer;
      try {
        answer = await work();
      } catch (error) {
        await release(claim, request.traceId);
        throw error;
      }
      const succeeded = answer.status >= 200 && answer.status < 300;
      await (succeeded && !answer.unkept ? keep(claim, request, answer) : release(claim, request.traceId));
      return { answer, replayed: false };
    },
  };
}
