import type { StandaloneProgram } from '../../support/standalone.ts';

export interface DashboardLoad {
  /** Resolves once the load has ended. */
  stop(): Promise<void>;
}

interface Keys {
  readonly payments: string;
  readonly admin: string;
}

/** Between two rounds, in ms: what is shown is a vault at work, not one at its limits. */
const PAUSE_MS = 20;
const WORKERS = 3;

/**
 * What a shop does, again and again: cards stored, read, charged by a reactor; some requests that are refused, and code
 * that fails.
 */
export function startLoad(
  vault: StandaloneProgram,
  keys: Keys,
  { reactorId, callbackUrl }: { reactorId: string; callbackUrl: string },
): DashboardLoad {
  let isStopped = false;

  async function round(turn: number): Promise<void> {
    const key = keys.payments;
    const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
    const created = await vault.request('POST', '/tokens', { key, body: { type: 'card', data } });
    if (created.status !== 201) return;
    const { id } = created.body as { id: string };
    await vault.request('GET', `/tokens/${id}`, { key });
    if (turn % 2 === 0) await vault.request('POST', '/detokenize', { key, body: { card: `{{ ${id} }}` } });
    if (turn % 3 === 0) {
      await vault.request('POST', `/reactors/${reactorId}/react`, {
        key,
        body: { args: { card: `{{ ${id} | json: '$.number' }}` } },
      });
    }
    if (turn % 5 === 0) await vault.request('GET', '/tokens?size=20', { key });
    if (turn % 7 === 0) {
      const body = { args: { card: '4111111111111111' }, callback_url: callbackUrl };
      await vault.request('POST', `/reactors/${reactorId}/react`, { key, body });
    }
    // The code throws without a card.
    if (turn % 11 === 0) await vault.request('POST', `/reactors/${reactorId}/react`, { key, body: { args: {} } });
    if (turn % 13 === 0) await vault.request('GET', '/applications', { key: keys.admin });
    if (turn % 17 === 0) await vault.request('DELETE', `/tokens/${id}`, { key });
  }

  async function work(): Promise<void> {
    for (let turn = 0; !isStopped; turn++) {
      await round(turn);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  const running = Promise.all(Array.from({ length: WORKERS }, work));
  return {
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
