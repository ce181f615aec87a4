import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../../platform/logger.ts';
import { singleFlight } from '../single-flight.ts';
import type { VaultClient } from './client.ts';
import { leaseOf, type Credentials, type Lease } from './credentials.ts';
import { VaultAway, VaultRefusal } from './failures.ts';

/** Always has a token that Vault accepts, as far as the credentials give one. */
export interface Session {
  /** Logs in where nobody has yet. Rejects as the credentials' login does. */
  token(): Promise<string>;
  /** Another token than one that Vault has refused; undefined where there is none to be had now. */
  replace(refused: string): Promise<string | undefined>;
  /** Gives up a token that was made for this process. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly client: VaultClient;
  readonly credentials: Credentials;
  readonly logger: Logger;
}

/** After a failed renewal, and at the shortest between two. */
const RENEW_AGAIN_MS = 5_000;
const SHORTEST_RENEWAL_MS = 1_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A refused login is the answer to all who ask for that long. */
const REFUSAL_HOLDS_MS = 1_000;
/** Requests that Vault refuses although they are logged in must not each log in again. */
const LOGIN_HOLD_OFF_MS = 2_000;
const WATCH_EVERY_MS = 2_000;

/** About two thirds of its life, so that two more tries fit in; spread, so that replicas do not come together. */
function renewalAfter({ lifeMs }: Lease): number {
  if (lifeMs === Infinity) return Infinity;
  return Math.min(LONGEST_TIMER_MS, Math.max(SHORTEST_RENEWAL_MS, lifeMs * (0.6 + Math.random() * 0.1)));
}

export function createSession({ client, credentials, logger }: SessionOptions): Session {
  let lease: Lease | undefined;
  let failure: { readonly error: unknown; readonly until: number } | undefined;
  let replacedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const once = singleFlight();

  function schedule(afterMs: number): void {
    clearTimeout(timer);
    if (!closed && afterMs < Infinity) timer = setTimeout(() => void keepAlive(), afterMs).unref();
  }

  function take(taken: Lease): Lease {
    lease = taken;
    schedule(renewalAfter(taken));
    return taken;
  }

  function login(): Promise<Lease> {
    return once('login', async () => {
      if (failure !== undefined && performance.now() < failure.until) throw failure.error;
      try {
        return take(await credentials.login());
      } catch (error) {
        if (!(error instanceof VaultAway)) failure = { error, until: performance.now() + REFUSAL_HOLDS_MS };
        throw error;
      }
    });
  }

  async function renewed({ token, lifeMs, renewable }: Lease): Promise<Lease | undefined> {
    if (!renewable) return undefined;
    try {
      const next = leaseOf(await client.write('auth/token/renew-self', {}, token));
      // Cut short by its longest life: soon it cannot be renewed at all.
      return next.lifeMs < lifeMs / 2 ? undefined : next;
    } catch (error) {
      if (error instanceof VaultRefusal) return undefined;
      throw error;
    }
  }

  async function keepAlive(): Promise<void> {
    try {
      const next = lease && (await renewed(lease));
      if (next !== undefined) take(next);
      else await login();
    } catch (error) {
      logger.warn({ error }, 'The token for Vault could not be renewed; it is tried again');
      schedule(RENEW_AGAIN_MS * (0.5 + Math.random() / 2));
    }
  }

  // Left to themselves, tokens that were made for this process alone live on in Vault, for a month by default.
  async function giveUp(token: string): Promise<void> {
    if (credentials.makesTokens) await client.write('auth/token/revoke-self', {}, token).catch(() => undefined);
  }

  const { watchedFile } = credentials;
  const onChange = (): void => void keepToken();
  async function keepToken(): Promise<void> {
    await login().catch((error: unknown) => logger.warn({ error }, 'The changed token for Vault is not usable'));
  }
  if (watchedFile !== undefined) watchFile(watchedFile, { interval: WATCH_EVERY_MS, persistent: false }, onChange);

  return {
    token: async () => (lease ?? (await login())).token,
    async replace(refused) {
      if (lease === undefined || lease.token !== refused) return (lease ?? (await login())).token;
      if (performance.now() - replacedAt < LOGIN_HOLD_OFF_MS) return undefined;
      const { token } = await login();
      replacedAt = performance.now();
      if (token === refused) return undefined;
      // Where it is the policy that refuses, it is valid still.
      void giveUp(refused);
      return token;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      if (watchedFile !== undefined) unwatchFile(watchedFile, onChange);
      if (lease !== undefined) await giveUp(lease.token);
    },
  };
}
