import type { Logger } from '../../platform/logger.ts';

export interface EmbeddedPostgres {
  readonly connectionString: string;
  stop(): Promise<void>;
}

export async function startEmbeddedPostgres(_options: { dataDir: string; logger: Logger }): Promise<EmbeddedPostgres> {
  throw new Error('unwritten');
}
