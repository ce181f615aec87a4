import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DeclarationChange } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import { translateFailure } from './failures.ts';

/** What of the control data changed. A key's change is one of its application. */
export type ControlChange = Extract<DeclarationChange, { tenantId: string }>;

export interface ChangeListenerOptions {
  readonly onChange: (change: ControlChange) => void;
  /** Changes may have been missed: called after each connect, the first included. */
  readonly onGap: () => void;
  readonly logger: Logger;
  /** How often the connection is tried; one that does not answer within as long again is given up. */
  readonly heartbeatMs?: number;
}

export interface ChangeListener {
  close(): Promise<void>;
}

const CHANNEL = 'tokenkeep_changes';
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;

/**
 * Follows changes to tenants, applications, their keys and reactors on a connection of its own, which it makes anew
 * whenever it breaks. Resolves once it listens; rejects where the first connection fails.
 */
export async function listenForChanges(
  connectionString: string,
  options: ChangeListenerOptions,
): Promise<ChangeListener> {
  const { logger, onGap, heartbeatMs = 5_000 } = options;
  const stopping = new AbortController();
  let session = await openSession(connectionString, options, heartbeatMs);
  onGap();

  async function reconnect(): Promise<void> {
    for (let backoff = FIRST_BACKOFF_MS; ; backoff = Math.min(backoff * 2, MAX_BACKOFF_MS)) {
      await delay(backoff, undefined, { signal: stopping.signal });
      try {
        session = await openSession(connectionString, options, heartbeatMs);
        return;
      } catch (error) {
        logger.warn({ error, retryInMs: backoff }, 'Listening for changes failed');
      }
    }
  }

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      await session.ended;
      if (stopping.signal.aborted) return;
      logger.warn({}, 'Connection that listens for changes lost');
      await reconnect();
      if (stopping.signal.aborted) return session.end();
      onGap();
      logger.info({}, 'Listening for changes resumed');
    }
  }

  const following = follow().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    async close() {
      stopping.abort();
      await session.end();
      await following;
    },
  };
}

interface Session {
  /** Resolves when the connection is gone, for whatever reason. */
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

async function openSession(
  connectionString: string,
  { onChange, logger }: ChangeListenerOptions,
  heartbeatMs: number,
): Promise<Session> {
  const client = new pg.Client({
    connectionString,
    application_name: 'tokenkeep changes',
    connectionTimeoutMillis: heartbeatMs,
    query_timeout: heartbeatMs,
    keepAlive: true,
  });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  client.on('notification', ({ payload }) => {
    const change = readChange(payload);
    if (change === undefined) logger.warn({}, 'Change notification could not be read');
    else onChange(change);
  });
  const end = (): Promise<void> => client.end().catch(() => undefined);
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
  } catch (error) {
    await end();
    throw translateFailure(error, 'listen');
  }
  const heartbeat = setInterval(() => {
    // A connection that died without a word would look like one without changes.
    client.query('select 1').catch(() => {
      resolve();
      void end();
    });
  }, heartbeatMs);
  void ended.then(() => clearInterval(heartbeat));
  return { ended, end };
}

const KINDS = ['tenant', 'application', 'reactor'];

function readChange(payload: string | undefined): ControlChange | undefined {
  try {
    const { kind, tenantId, id } = JSON.parse(payload ?? '') as Record<string, unknown>;
    const valid = KINDS.includes(kind as string) && typeof tenantId === 'string' && typeof id === 'string';
    return valid ? ({ kind, tenantId, id } as ControlChange) : undefined;
  } catch {
    return undefined;
  }
}
