import { createDatabase } from '../../src/data/database.ts';
import { startEmbeddedPostgres } from '../../src/data/embedded/postgres.ts';
import { silentLogger } from '../../src/platform/logger.ts';

/** Holds an embedded Postgres over the data folder of its first argument, with something in it, until it is killed. */
const server = await startEmbeddedPostgres({ dataDir: process.argv[2]!, logger: silentLogger, syncInitdb: false });
const database = createDatabase({ connectionString: server.connectionString, logger: silentLogger });
await database.run({ text: 'create table if not exists kept as select 42 as answer' });
process.stdout.write('ready\n');
