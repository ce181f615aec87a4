import { DomainError } from '../../domain/errors.ts';
import { createCircuit } from '../../platform/circuit.ts';
import type { Logger } from '../../platform/logger.ts';
import { KeyManagementAway } from '../key-management.ts';
import type { VaultAnswer, VaultClient } from './client.ts';
import { VaultAway, VaultRefusal } from './failures.ts';
import { retrying } from './retry.ts';
import type { Session } from './session.ts';
import { createSlots } from './slots.ts';

/** One request under a token. */
export type VaultRequest = (client: VaultClient, token: string) => Promise<VaultAnswer>;

/**
 * Asks Vault under a valid token, with a bounded number of requests at a time. Rejects with VaultRefusal, or with
 * DomainError 'unavailable': at once, without asking, while Vault is known to be away.
 */
export interface VaultConnection {
  /** Tried several times: for requests that may happen twice. */
  request(request: VaultRequest): Promise<VaultAnswer>;
  /** Tried once. Rejects with VaultAway where it is not known whether it happened. */
  requestOnce(request: VaultRequest): Promise<VaultAnswer>;
  close(): Promise<void>;
}

export interface VaultConnectionOptions {
  readonly client: VaultClient;
  readonly session: Session;
  /** Sent while Vault is away. Any answer of Vault's own, also a refusal, shows that it is back. */
  readonly probe: VaultRequest;
  /** Told of each change, and of the first state. */
  readonly onChange: (isUp: boolean) => void;
  readonly logger: Logger;
}

/** Transit answers in some ms, so this many keep it busy; more would only queue there. */
const REQUESTS_AT_A_TIME = 32;
const MOST_WAITING = 2_000;
/** Between probes, and from a failure to the first one: with an answer, well below the 5 s in which callers recover. */
const PROBE_EVERY_MS = 1_000;

/** Connects and logs in. Rejects with DomainError 'unavailable' where that fails. */
export async function connectToVault(options: VaultConnectionOptions): Promise<VaultConnection> {
  const { client, session, probe, logger } = options;
  const slots = createSlots({
    ...{ running: REQUESTS_AT_A_TIME, waiting: MOST_WAITING },
    refuse: () => new DomainError('unavailable', 'too many requests wait for Vault: try again'),
  });
  let reason = 'not asked yet';
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const circuit = createCircuit({
    ask: () => answers(probe),
    onChange(isUp) {
      if (isUp) logger.info({}, 'Vault answers');
      else logger.warn({ reason }, 'Vault does not answer: it is asked again until it does');
      options.onChange(isUp);
      if (!isUp) probeSoon();
    },
    now: () => performance.now(),
    holdOffMs: PROBE_EVERY_MS / 2,
  });

  function probeSoon(): void {
    if (closed) return;
    const again = async (): Promise<void> => {
      await circuit.probe();
      if (!circuit.isUp) probeSoon();
    };
    timer = setTimeout(() => void again(), PROBE_EVERY_MS * (0.5 + Math.random() / 2)).unref();
  }

  async function answers(request: VaultRequest): Promise<void> {
    try {
      await attempt(request);
    } catch (error) {
      if (error instanceof VaultAway) throw error;
    }
  }

  async function attempt(request: VaultRequest): Promise<VaultAnswer> {
    const token = await session.token();
    try {
      return await request(client, token);
    } catch (error) {
      if (!(error instanceof VaultRefusal) || error.status !== 403) throw error;
      // Revoked, expired or not permitted: a new token tells which.
      const another = await session.replace(token);
      if (another === undefined) throw error;
      return request(client, another);
    }
  }

  async function attemptWhileUp(request: VaultRequest): Promise<VaultAnswer> {
    // Looked at before each try: what another request found out meanwhile saves this one its waiting.
    if (!circuit.isUp) throw unavailable(reason);
    return attempt(request);
  }

  try {
    await retrying(() => answers(probe), isAway);
    // Nothing at all is possible without a login, and why not is known only now.
    await session.token();
    await circuit.probe();
    // It has gone away just now: from here on that is a state, no failure.
    if (!circuit.isUp) circuit.trip();
  } catch (error) {
    await session.close();
    client.close();
    throw error instanceof VaultAway ? unavailable(error.reason) : error;
  }

  return {
    async request(request) {
      try {
        return await slots.run(() => retrying(() => attemptWhileUp(request), isAway));
      } catch (error) {
        if (!(error instanceof VaultAway)) throw error;
        ({ reason } = error);
        circuit.trip();
        throw unavailable(reason);
      }
    },
    requestOnce: (request) => slots.run(() => attemptWhileUp(request)),
    async close() {
      closed = true;
      clearTimeout(timer);
      await session.close();
      client.close();
    },
  };
}

function isAway(error: unknown): boolean {
  return error instanceof VaultAway;
}

function unavailable(reason: string): KeyManagementAway {
  return new KeyManagementAway(`key management is away: Vault does not answer (${reason})`);
}
