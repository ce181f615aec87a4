import type { Database } from '../data/database.ts';
import { removeAnswersOf } from '../data/idempotent-answer-removal.ts';
import { removeInBatches } from './batches.ts';

const BATCH = 5_000;
/** How long whoever deletes an application waits for its answers to go, in ms. */
const BUDGET_MS = 1_000;

/**
 * Removes the kept answers of an application that has just been deleted, so that one that is declared anew with its id
 * does not find them. The sweeper removes what is left of very many, or where this fails: the deletion itself has
 * succeeded by now.
 */
export async function forgetAnswers(database: Database, tenantId: string, applicationId: string): Promise<void> {
  await removeInBatches(
    (queryable, limit) => removeAnswersOf(queryable, { tenantId, applicationId }, limit),
    database,
    { size: BATCH, signal: AbortSignal.timeout(BUDGET_MS) },
  ).catch(() => undefined);
}
