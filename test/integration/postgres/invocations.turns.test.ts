import { expect } from 'chai';
import type { ClaimedInvocation } from '../../../src/data/invocation-claims.ts';
import { insertInvocation } from '../../../src/data/invocations.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { createStageWorker } from '../../../src/services/reactors/asynchronous/stage-worker.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newInvocation, newLog, storedTenant } from '../../support/rows.ts';

describe('the turns of asynchronous invocations', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  async function accept(tenantId: string): Promise<void> {
    const invocation = newInvocation(tenantId);
    await insertInvocation(test.database, invocation, 1_000, newLog(tenantId, invocation.reactorId));
  }

  it('come to a tenant of whom nothing is in work before the older backlog of another', async () => {
    const [backlogged, late] = [await storedTenant(test.database), await storedTenant(test.database)];
    for (let one = 0; one < 5; one += 1) await accept(backlogged);
    await test.database.run({ text: `update reactor_invocations set due_at = now() - interval '1 hour'` });
    await accept(late);
    const taken: ClaimedInvocation[] = [];
    const worker = createStageWorker({
      ...{ database: test.database, maintenance: test.maintenance, stage: 'run' },
      limits: { inAll: 3, perTenant: 3, perReactor: 3 },
      logger: createLogger({ level: 'error', format: 'json', destination: { write: () => undefined } }),
      async work(claimed, signal) {
        taken.push(claimed);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    worker.start();
    await eventually(() => expect(taken).to.have.length(3));
    await worker.stop(0);
    expect(taken.map(({ tenantId }) => tenantId)).to.deep.equal([backlogged, late, backlogged]);
  });
});
