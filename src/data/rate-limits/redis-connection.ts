import { createClient, type RedisClientType } from '@redis/client';
import { createCircuit } from '../../platform/circuit.ts';

/** A connection that is made again whenever it is lost, and knows whether Redis answers. */
export interface RedisConnection {
  readonly client: RedisClientType;
  /** Whether Redis may be asked. False from the first sign of trouble until it has answered again. */
  readonly isUp: boolean;
  /** Told of an operation that failed or took too long. */
  reportFailure(): void;
  close(): void;
}

export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`; may hold a password. */
  readonly url: string;
  /** Told of each change, and of the first state. */
  readonly onChange: (isUp: boolean) => void;
}

/** For one answer of Redis, in ms: what a request waits at most where Redis hangs. */
const REDIS_TIMEOUT_MS = 100;
const CONNECT_TIMEOUT_MS = 1000;
/** A connection that has been silent so long, though it is pinged, is given up. */
const SILENCE_MS = 2000;
const PROBE_EVERY_MS = 250;
const RECONNECT_AFTER_MS = 250;

/** Rejects where `work` has not settled in time. What becomes of it later is nobody's business. */
export async function inTime<Result>(work: Promise<Result>, timeoutMs = REDIS_TIMEOUT_MS): Promise<Result> {
  const { promise: expiry, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Redis has not answered within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

/** Connects to Redis. Resolves once it answers, or has not within a second: being away is a state, no failure. */
export async function connectToRedis({ url, onChange }: RedisConnectionOptions): Promise<RedisConnection> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: SILENCE_MS / 2,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: () => RECONNECT_AFTER_MS,
    },
  }) as RedisClientType;
  const circuit = createCircuit({ ask: () => inTime(client.ping()), onChange, now: () => performance.now() });
  const probe = async (): Promise<void> => {
    if (client.isReady) await circuit.probe();
  };

  const first = Promise.withResolvers<void>();
  // What is wrong shows in the state; the messages of the client may hold what the URL does.
  client.on('error', () => circuit.isUp && circuit.trip());
  client.on('ready', () => void probe().then(first.resolve));
  const prober = setInterval(() => void probe(), PROBE_EVERY_MS);
  client.connect().catch(() => undefined);
  await inTime(first.promise, CONNECT_TIMEOUT_MS).catch(() => undefined);
  if (!circuit.isUp) circuit.trip();

  return {
    client,
    get isUp() {
      return circuit.isUp && client.isReady;
    },
    reportFailure: () => circuit.trip(),
    close() {
      clearInterval(prober);
      client.destroy();
    },
  };
}
