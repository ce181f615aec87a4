import type { AdvisoryLock } from '../../data/advisory-lock.ts';
import type { Database } from '../../data/database.ts';
import { DomainError } from '../../domain/errors.ts';
import type { KeyManagement } from '../../keys/key-management.ts';

/** The name of the turn to change keys. */
export const KEYS_TURN = 'keys';

/** What changes of keys work on. */
export interface KeyRotationParts {
  /** Sees the rows of every tenant. */
  readonly database: Database;
  readonly management: KeyManagement;
  /** The turn to change keys, among all processes; undefined while another process has it. */
  readonly takeTurn: () => Promise<AdvisoryLock | undefined>;
}

/**
 * Runs `work` as the only process that changes keys; the signal is aborted where that can no longer be known. Throws a
 * DomainError 'conflict' where another process is at it.
 */
export async function inTurn<Result>(
  { takeTurn }: Pick<KeyRotationParts, 'takeTurn'>,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const turn = await takeTurn();
  if (turn === undefined) {
    throw new DomainError('conflict', 'another process is changing keys of this vault: try again when it has ended');
  }
  try {
    return await work(turn.lost);
  } finally {
    await turn.release();
  }
}

/** Told how far a piece of work over many data keys is. */
export type OnProgress = (done: number, total: number) => void;
