import type { InternalAuthentication } from '../../api/internal/authentication.ts';
import type { Database } from '../../data/database.ts';
import type { DataKeyLimits } from '../../keys/data-keys.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EgressOptions } from '../../platform/egress/types.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { ServerCertificate } from '../../platform/server-certificate.ts';
import type { ShutdownStack } from '../../platform/shutdown.ts';
import type { Tracing } from '../../platform/tracing.ts';
import type { BroadReadLimits } from '../../services/tokens/broad-reads.ts';

/** Within the 10 s in which a process ends that is told nothing else. */
export const DEFAULT_GRACE_MS = 5_000;

export interface ApiOptions {
  /** Of the API: confined to the tenant in scope. */
  readonly database: Database;
  /** Of the sweeper: for work across tenants. */
  readonly maintenance: Database;
  /** For the connection that listens to changes; may hold a password. */
  readonly connectionString: string;
  /** Need not answer yet: the API is not ready until it does. */
  readonly keyManagement: KeyManagement;
  /** What of the bounds of data keys is not as it always is. */
  readonly dataKeyLimits?: Partial<DataKeyLimits> | undefined;
  readonly host: string;
  readonly port: number;
  /** Who reaches it and is let in may read every reactor's code: never wider than the control plane needs. */
  readonly internalHost: string;
  readonly internalPort: number;
  /** Who is let in there. */
  readonly internalAuthentication: InternalAuthentication;
  /** The internal API speaks plain HTTP without one. */
  readonly internalCertificate?: ServerCertificate | undefined;
  /** As whom it calls the instances of reactors, and whose certificates they must have; needed in a cluster. */
  readonly reactorIdentity?: ServerCertificate | undefined;
  /** How instances of reactors elsewhere reach this very process. Absent: as everybody on this machine does. */
  readonly svc?: SvcServing | undefined;
  readonly headerPrefixes: readonly string[];
  /** Whose pages may call the API: origins as browsers send them, or `*` alone. Nobody's where it is empty. */
  readonly corsOrigins: readonly string[];
  /** Where callbacks may go over plain HTTP, and whatever the address is. */
  readonly callbackHttpHosts?: readonly string[] | undefined;
  /** How callbacks find addresses, and whom they trust, if not as the machine does. */
  readonly callbackEgress?: Pick<EgressOptions, 'resolve' | 'ca'> | undefined;
  /** Counters of rate limits are in memory where it is undefined. May hold a password. */
  readonly redisUrl: string | undefined;
  /** How many proxies in front of the API append to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  /** Whether requests are counted by their address alone. */
  readonly ipRateLimits: boolean;
  /** What of the bounds of searches, and lists by metadata, is not as it always is. */
  readonly broadReads?: Partial<BroadReadLimits> | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
  /**
   * How long it goes on serving after it is asked to stop, in ms, for those who have not learnt yet that it is not ready.
   * Default: 0.
   */
  readonly drainMs?: number;
  /** How long what is in flight may take after that, in ms. Default: DEFAULT_GRACE_MS. */
  readonly graceMs?: number;
  /** Takes what has been started, last started first. */
  readonly shutdown: ShutdownStack;
}

/** The public API once more, by TLS: what instances in pods call. */
export interface SvcServing {
  readonly port: number;
  /** Of the name `API_CLIENT_NAME`, which instances ask for. */
  readonly certificate: ServerCertificate;
  /** Origin; where it listens, if it is undefined. */
  readonly url?: string | undefined;
}
