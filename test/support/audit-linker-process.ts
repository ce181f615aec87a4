import { createDatabase } from '../../src/data/database.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { silentLogger } from '../../src/platform/logger.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createAuditChain } from '../../src/services/audit-chain/audit-chain.ts';

/** Links the log of a database until it is killed. Arguments: connection string, keyring file. */
const [connectionString = '', keyring = ''] = process.argv.slice(2);
const database = createDatabase({ connectionString, logger: silentLogger, poolSize: 2 });
const keyManagement = await openKeyring(keyring, { isNeeded: async () => true });
createAuditChain({ database, keyManagement, logger: silentLogger, metrics: createMetrics() }).start();
// What repeats does not keep a process alive.
process.stdin.resume().on('end', () => process.exit(0));
