import { randomCard } from '../cards.ts';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

/** One card is stored: `POST /tokens`. */
export function createScenario({ vault, postgres, echo }: Stage): Scenario {
  const body = () => ({ type: 'card', data: randomCard() });
  return {
    name: 'create a card',
    ours: () => vault.send('POST', '/tokens', { status: 201, body: body() }),
    ceilings: [
      { name: 'the row and its log entry, by SQL', operation: () => postgres.insert(1) },
      { name: 'node:http echo', operation: () => echo.send('POST', '/', { status: 200, body: body() }) },
    ],
  };
}
