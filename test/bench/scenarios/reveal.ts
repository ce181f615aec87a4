import { randomCard } from '../cards.ts';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

/** Tokens to choose from, so that no two reads in a row are of one row. */
const TOKENS = 500;

/** One card is read in plaintext: `GET /tokens/{id}`. */
export async function revealScenario({ vault, postgres, echo }: Stage): Promise<Scenario> {
  const ids: string[] = [];
  for (let made = 0; made < TOKENS; made++) {
    const { id } = await vault.send('POST', '/tokens', { status: 201, body: { type: 'card', data: randomCard() } });
    ids.push(id as string);
  }
  const rows = await postgres.insert(TOKENS);
  const anyOf = (from: readonly string[]): string => from[Math.floor(Math.random() * from.length)]!;
  const answer = await vault.send('GET', `/tokens/${ids[0]}`, { status: 200 });
  return {
    name: 'reveal a card',
    ours: () => vault.send('GET', `/tokens/${anyOf(ids)}`, { status: 200 }),
    ceilings: [
      { name: 'the row, by SQL (no log entry)', operation: () => postgres.select([anyOf(rows)]) },
      { name: 'node:http echo', operation: () => echo.send('POST', '/', { status: 200, body: answer as object }) },
    ],
  };
}
