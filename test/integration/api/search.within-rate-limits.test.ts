import { expect } from 'chai';
import pg from 'pg';
import { DEFAULT_ROWS } from '../../../src/domain/rate-limits.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, startTestVault, type TestVault } from '../../support/vault.ts';

describe('as many searches at once as the rate limits let through', () => {
  let vault: TestVault;

  before(async () => {
    vault = await startTestVault({ broadReads: { waitMs: 120_000, statementMs: 120_000 } });
  });
  after(() => vault.stop());

  it('all wait for their turn, and none is refused', async () => {
    const { requests } = DEFAULT_ROWS.find(({ resource }) => resource === 'SearchTokens')!;
    const { key } = await vault.application({ tenantId: await vault.tenant({}, { plan: 'Default' }) });
    const holder = new pg.Client({ connectionString: vault.connectionString });
    await holder.connect();
    let sent: Promise<Answer>[] = [];
    try {
      // No search gets on before it is let go.
      await holder.query('begin; lock table token_search_hashes in access exclusive mode');
      sent = Array.from({ length: requests }, (_, index) =>
        vault.request('POST', index % 2 === 0 ? '/tokens/search' : '/v2/tokens/search', {
          ...{ key, body: { query: 'data:value' } },
        }),
      );
      await eventually(
        async () => {
          const text = await vault.metrics.registry.metrics();
          expect(text).to.include(`tokenkeep_broad_reads{state="waiting"} ${requests - 2}\n`);
        },
        { deadlineMs: 60_000 },
      );
    } finally {
      await holder.end();
    }
    for (const { status, body } of await Promise.all(sent)) expect(status, JSON.stringify(body)).to.equal(200);
  }).timeout(180_000);
});
