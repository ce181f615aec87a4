import { randomCard } from '../cards.ts';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const TOKENS = 100;

/** A hundred cards are stored, all or none: `POST /tokenize`. */
export function bulkTokenizeScenario({ vault, postgres, echo }: Stage): Scenario {
  const body = () => ({ cards: Array.from({ length: TOKENS }, () => ({ type: 'card', data: randomCard() })) });
  return {
    name: `tokenize ${TOKENS} cards`,
    ours: () => vault.send('POST', '/tokenize', { status: 200, body: body() }),
    ceilings: [
      { name: 'the rows and their log entries, by SQL', operation: () => postgres.insert(TOKENS) },
      { name: 'node:http echo', operation: () => echo.send('POST', '/', { status: 200, body: body() }) },
    ],
  };
}
