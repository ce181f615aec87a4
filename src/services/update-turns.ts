import { DomainError } from '../domain/errors.ts';
import { Turnstile, type TurnstileLimits } from './turnstile.ts';

/**
 * Updates of one thing follow one another within this process. Each is based on what it finds there, so that of those
 * that begin together all but one would begin anew, and some in vain. What other replicas change meanwhile is for the
 * update itself to notice.
 */
export interface UpdateTurns {
  /**
   * What `update` gives, once it is its turn. Throws 'conflict', and does not begin it, where too many wait already or
   * the wait takes too long; 'unavailable' once `signal` is aborted before.
   */
  run<Result>(
    thing: { readonly tenantId: string; readonly id: string },
    update: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
}

const LIMITS: TurnstileLimits = {
  atOnce: Infinity,
  atOnceOfGroup: 1,
  waiting: 1_000,
  waitingOfGroup: 200,
  waitMs: 10_000,
};

/** Those of all things of one kind. */
export function createUpdateTurns(
  kind: 'token' | 'reactor',
  limits: Partial<Pick<TurnstileLimits, 'waitingOfGroup' | 'waitMs'>> = {},
): UpdateTurns {
  const turnstile = new Turnstile({ ...LIMITS, ...limits }, { busy: () => updatedByOthers(kind) });
  return { run: ({ tenantId, id }, update, signal) => turnstile.pass(`${tenantId} ${id}`, update, signal) };
}

/** 'conflict' for an update that others keep from being made. */
export function updatedByOthers(kind: 'token' | 'reactor'): DomainError {
  return new DomainError('conflict', `The ${kind} is being updated by others; try again.`);
}
