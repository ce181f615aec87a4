import type { DeclarationChange } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import { ApiReplica } from './api-replica.ts';
import type { Announced } from './api-replica.ts';
import { followChanges } from './change-follower.ts';
import type { ChangeFollower } from './change-follower.ts';
import { sumDemand } from './demand-totals.ts';
import { createInternalClient } from './internal-client.ts';
import type { InternalClient } from './internal-client.ts';
import type { InternalApiAccess } from './internal-connection.ts';
import type { Timers } from './timers.ts';

/** Where the replicas of the API are. */
export interface ReplicaDirectory {
  /** Tells of all of them, by their origins such as `https://10.0.0.7:8443`; first at once, then with each change. */
  start(listener: (origins: readonly string[]) => void): void;
  /** Final: nothing is told after this call. */
  stop(): Promise<void>;
}

export interface ApiReplicasOptions {
  /** The API as a whole: its only replica, where there is no directory. */
  api: InternalClient;
  /** How each of the replicas is reached, but for its address. */
  access: InternalApiAccess;
  directory?: ReplicaDirectory | undefined;
  announced: Announced;
  clock: Timers;
  logger: Logger;
  /** Invocations wait at a replica of the API, or one that is new may have demand. */
  demandRose: () => void;
}

interface Followed {
  replica: ApiReplica;
  /** Ends what was begun for this replica alone. */
  end: () => Promise<void>;
}

/** The replicas of the API: each is told of all instances, and their demand is added up. */
export class ApiReplicas {
  readonly #options: ApiReplicasOptions;
  /** By origin. */
  readonly #replicas = new Map<string, Followed>();
  readonly #ending = new Set<Promise<void>>();
  #isHeld = false;
  #isStopped = false;

  constructor(options: ApiReplicasOptions) {
    this.#options = options;
  }

  start(): void {
    const { api, directory } = this.#options;
    if (directory === undefined) {
      const replica = this.#create(api);
      this.#replicas.set('', { replica, end: () => replica.stop() });
      replica.announceAll();
    } else {
      directory.start((origins) => this.#replace(origins));
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#options.directory?.stop();
    this.#replace([]);
    await Promise.all(this.#ending);
  }

  hold(): void {
    this.#isHeld = true;
    for (const { replica } of this.#replicas.values()) replica.hold();
  }

  release(): void {
    this.#isHeld = false;
    for (const { replica } of this.#replicas.values()) replica.release();
  }

  announceInstances(reactorKey: string): void {
    for (const { replica } of this.#replicas.values()) replica.announceInstances(reactorKey);
  }

  announceAll(): void {
    for (const { replica } of this.#replicas.values()) replica.announceAll();
  }

  /** Asks all of them. Undefined where none has told of late: of demand nothing is known. */
  async demand(): Promise<ReturnType<typeof sumDemand>> {
    const replicas = [...this.#replicas.values()].map(({ replica }) => replica);
    await Promise.all(replicas.map((replica) => replica.askDemand()));
    return sumDemand(
      replicas.map(({ report }) => report),
      this.#options.clock.now(),
    );
  }

  #create(client: InternalClient): ApiReplica {
    const { announced, clock, logger } = this.#options;
    const replica = new ApiReplica({ client, announced, clock, logger });
    if (this.#isHeld) replica.hold();
    return replica;
  }

  #replace(origins: readonly string[]): void {
    for (const [origin, followed] of this.#replicas) {
      if (origins.includes(origin)) continue;
      this.#replicas.delete(origin);
      const ending = followed.end().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    if (this.#isStopped) return;
    for (const origin of origins) if (!this.#replicas.has(origin)) this.#replicas.set(origin, this.#follow(origin));
  }

  #follow(origin: string): Followed {
    const { access, clock, logger, demandRose } = this.#options;
    const serverName = new URL(access.baseUrl).hostname;
    const client = createInternalClient({ ...access, baseUrl: origin, serverName });
    const replica = this.#create(client);
    const follower: ChangeFollower = followChanges(client, clock, logger, ({ kind }: DeclarationChange) => {
      // First of all, and again where it may have restarted.
      if (kind === 'resync') replica.announceAll();
      if (kind === 'resync' || kind === 'demand') demandRose();
    });
    const end = async () => {
      client.close();
      await Promise.all([follower.stop(), replica.stop()]);
    };
    return { replica, end };
  }
}
