import { randomCard } from '../cards.ts';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const TOKENS = 100;

/** A hundred cards are read in plaintext: the list form of `POST /detokenize`. */
export async function bulkDetokenizeScenario({ vault, postgres, echo }: Stage): Promise<Scenario> {
  const cards = Array.from({ length: TOKENS }, () => ({ type: 'card', data: randomCard() }));
  const stored = await vault.send('POST', '/tokenize', { status: 200, body: { cards } });
  const body = { tokens: (stored.cards as { id: string }[]).map(({ id }) => id) };
  const rows = await postgres.insert(TOKENS);
  const answer = await vault.send('POST', '/detokenize', { status: 200, body });
  return {
    name: `detokenize ${TOKENS} cards`,
    ours: () => vault.send('POST', '/detokenize', { status: 200, body }),
    ceilings: [
      { name: 'the rows, by SQL (no log entries)', operation: () => postgres.select(rows) },
      { name: 'node:http echo', operation: () => echo.send('POST', '/', { status: 200, body: answer as object }) },
    ],
  };
}
