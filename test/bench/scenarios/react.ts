import { readFile } from 'node:fs/promises';
import { compileFunction } from 'node:vm';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const SAMPLE = new URL('../../../config/samples/reactors.yaml', import.meta.url);
const ARGS = { card: { number: '4242424242424242', expiration_month: 12, expiration_year: 2035 } };
const WARM_DEADLINE_MS = 20_000;

interface ReactorDocument {
  spec: { code: string; configuration: Record<string, string> };
}

type ReactorFunction = (request: object) => Promise<unknown>;

/** The sample reactor on a card given in the request: `POST /reactors/{id}/react`, warm. It tokenizes one value. */
export async function reactScenario({ vault, echo, reactorId }: Stage): Promise<Scenario> {
  const { spec } = parse(await readFile(SAMPLE, 'utf8')) as ReactorDocument;
  const module = { exports: undefined as unknown };
  compileFunction(spec.code, ['module'])(module);
  const reactor = module.exports as ReactorFunction;
  const path = `/reactors/${reactorId}/react`;
  const body = { args: ARGS };
  await warmUp(() => vault.send('POST', path, { status: 200, body }));
  return {
    name: 'react, warm',
    ours: () => vault.send('POST', path, { status: 200, body }),
    ceilings: [
      {
        name: 'its function, called directly',
        operation: () => reactor({ ...body, configuration: spec.configuration }),
      },
      { name: 'node:http echo', operation: () => echo.send('POST', '/', { status: 200, body }) },
    ],
  };
}

/** The first instance may still be starting. */
async function warmUp(invoke: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + WARM_DEADLINE_MS;
  for (;;) {
    try {
      await invoke();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(100);
    }
  }
}
