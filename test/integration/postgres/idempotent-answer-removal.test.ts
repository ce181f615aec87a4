import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { deleteApplication, insertApplication } from '../../../src/data/applications.ts';
import type { Queryable } from '../../../src/data/database.ts';
import {
  removeAnswersOf,
  sweepExpiredAnswers,
  sweepOrphanedAnswers,
} from '../../../src/data/idempotent-answer-removal.ts';
import { claimSlot, type IdempotencySlot, storeAnswer } from '../../../src/data/idempotent-answers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newApplication, newLog, newSlot, storedTenant } from '../../support/rows.ts';

describe('idempotent answers that go', () => {
  let test: TestDatabase;
  let tenantId: string;

  beforeEach(async () => {
    test = await createTestDatabase();
    tenantId = await storedTenant(test.database);
  });
  afterEach(() => test.dispose());

  async function storedApplication(): Promise<string> {
    const application = newApplication(tenantId);
    await insertApplication(test.database, application, newLog(tenantId, application.id));
    return application.id;
  }

  /** Keeps an answer in each of `count` slots, for so long. */
  async function keep(count: number, overrides: Partial<IdempotencySlot> = {}, seconds = 60): Promise<void> {
    for (let made = 0; made < count; made++) {
      const claim = { ...newSlot(tenantId, overrides), claim: randomUUID() };
      await claimSlot(test.database, claim, 60);
      expect(await storeAnswer(test.database, claim, Buffer.from('sealed'), seconds)).to.equal(true);
    }
  }

  async function countOf(applicationId: string): Promise<number> {
    const rows = await test.database.run({ text: 'select from idempotent_answers where application_id = $1' }, [
      applicationId,
    ]);
    return rows.length;
  }

  /** What each statement removed until there was nothing left, two rows at most. */
  async function removeInTwos(remove: (queryable: Queryable, limit: number) => Promise<number>): Promise<number[]> {
    const counts: number[] = [];
    do counts.push(await remove(test.database, 2));
    while (counts.at(-1)! > 0);
    return counts;
  }

  it('do so past their time, at most so many rows at once, and no others', async () => {
    const applicationId = await storedApplication();
    await keep(5, { applicationId }, 0);
    await keep(2, { applicationId });
    expect(await removeInTwos(sweepExpiredAnswers)).to.deep.equal([2, 2, 1, 0]);
    expect(await countOf(applicationId)).to.equal(2);
  });

  it('do so with their application, those of its sessions too, so many rows at once, and no others', async () => {
    const [applicationId, otherId] = [await storedApplication(), await storedApplication()];
    await keep(3, { applicationId });
    await keep(2, { applicationId, ownerId: randomUUID() });
    await keep(2, { applicationId: otherId });
    const remove = (queryable: Queryable, limit: number) =>
      removeAnswersOf(queryable, { tenantId, applicationId }, limit);
    expect(await removeInTwos(remove)).to.deep.equal([2, 2, 1, 0]);
    expect(await countOf(otherId)).to.equal(2);
  });

  it('do so where their application is gone already, however many applications there are, and no others', async () => {
    const [goneId, otherId, alsoGoneId] = [await storedApplication(), await storedApplication(), randomUUID()];
    await keep(3, { applicationId: goneId });
    await keep(2, { applicationId: alsoGoneId, ownerId: randomUUID() });
    await keep(2, { applicationId: otherId });
    await keep(1, { tenantId: randomUUID() });
    await deleteApplication(test.database, tenantId, goneId, newLog(tenantId, goneId));
    expect(await removeInTwos(sweepOrphanedAnswers)).to.deep.equal([2, 2, 2, 0]);
    expect(await countOf(otherId)).to.equal(2);
  });

  it('do so by their own time where an older program wrote them without their application', async () => {
    const applicationId = randomUUID();
    await keep(1, { applicationId });
    await keep(1, { applicationId }, 0);
    await test.database.run({ text: 'update idempotent_answers set application_id = null' });
    expect(await sweepOrphanedAnswers(test.maintenance, 10)).to.equal(0);
    expect(await sweepExpiredAnswers(test.maintenance, 10)).to.equal(1);
  });

  it('are passed over by one who removes while another does', async () => {
    const applicationId = randomUUID();
    await keep(3, { applicationId });
    await test.database.transaction(async (transaction) => {
      expect(await removeAnswersOf(transaction, { tenantId, applicationId }, 2)).to.equal(2);
      expect(await sweepOrphanedAnswers(test.maintenance, 10)).to.equal(1);
    });
    expect(await countOf(applicationId)).to.equal(0);
  });
});
