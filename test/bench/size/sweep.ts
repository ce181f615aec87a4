import type { Database } from '../../../src/data/database.ts';
import { foldTokenCounts } from '../../../src/data/token-counts.ts';
import { sweepExpiredTokens } from '../../../src/data/token-expiry.ts';
import { removeInBatches } from '../../../src/services/batches.ts';
import { createToken } from '../../../src/services/tokens/create.ts';
import { pageTokens } from '../../../src/services/tokens/list.ts';
import { readToken } from '../../../src/services/tokens/read.ts';
import { randomCard } from '../cards.ts';
import { quantile, runLoop, type Operation } from '../load-loop.ts';
import { CALLERS } from './callers.ts';
import type { Parts } from './parts.ts';
import { TENANT } from './rows.ts';

const EXPIRE = `
  update tokens set expires_at = now() - interval '1 second'
  where tenant_id = $1
    and token_id in (select token_id from tokens where tenant_id = $1 order by created_at limit $2)`;

/** Live requests with nothing beside them, as long as a sweep might last. */
const QUIET_MS = 5_000;
const REPLICAS = 3;

/** A card is created, read and found on the first page. */
async function useOneCard(parts: Parts): Promise<void> {
  const { shown } = await createToken(parts, CALLERS.plain, { type: 'card', data: { ...randomCard() } });
  await readToken(parts, CALLERS.plain, shown.token.id);
  await pageTokens(parts, CALLERS.plain, {}, { page: 1, size: 1 });
}

async function sweepBy(replicas: number, database: Database): Promise<void> {
  const options = { size: 1_000, signal: new AbortController().signal };
  await Promise.all(
    Array.from({ length: replicas }, async () => {
      await removeInBatches(sweepExpiredTokens, database, options);
      await removeInBatches(foldTokenCounts, database, options);
    }),
  );
}

/**
 * What live requests take beside nothing, and while several replicas sweep so many expired tokens, as lines of text.
 */
export async function measureSweep(parts: Parts, owner: Database, count: number): Promise<string[]> {
  const live: Operation = () => useOneCard(parts);
  const { latencies: quiet } = await runLoop(live, { concurrency: 1, durationMs: QUIET_MS, maxOperations: Infinity });
  await owner.run({ text: EXPIRE }, [TENANT, count]);
  const began = performance.now();
  let over = false;
  const sweep = sweepBy(REPLICAS, owner).finally(() => (over = true));
  const beside: number[] = [];
  while (!over) {
    const start = performance.now();
    await live();
    beside.push(performance.now() - start);
  }
  await sweep;
  const seconds = (performance.now() - began) / 1000;
  const line = (what: string, latencies: Float64Array): string =>
    `| ${what} | ${quantile(latencies, 0.5).toFixed(1)} | ${quantile(latencies, 0.99).toFixed(1)} |`;
  return [
    `| create, read and list a card | p50 ms | p99 ms |`,
    `| --- | ---: | ---: |`,
    line('nothing beside it', quiet),
    line(`beside ${REPLICAS} sweepers, ${count} tokens in ${seconds.toFixed(1)} s`, Float64Array.from(beside).sort()),
  ];
}
