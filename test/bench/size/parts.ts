import { mkdtemp, chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { startEmbeddedPostgres } from '../../../src/data/embedded/postgres.ts';
import { API_ROLE } from '../../../src/data/group-roles.ts';
import { insertLogs } from '../../../src/data/logs.ts';
import { migrate } from '../../../src/data/migrate.ts';
import { upsertTenant } from '../../../src/data/tenants.ts';
import { createDataKeys } from '../../../src/keys/data-keys.ts';
import { createKeyedHasher } from '../../../src/keys/keyed-hashes.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { createSealer } from '../../../src/keys/sealing.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { createAudit } from '../../../src/services/audit.ts';
import { createCursors, type Cursors } from '../../../src/services/cursors.ts';
import { type BroadReadParts, createBroadReads } from '../../../src/services/tokens/broad-reads.ts';
import { createLargePages } from '../../../src/services/tokens/large-pages.ts';
import { createTokenVault } from '../../../src/services/tokens/vault.ts';
import { newTenant } from '../../support/rows.ts';
import { TENANT } from './rows.ts';

/** The services' parts, without HTTP and its rate limits. */
export type Parts = BroadReadParts & { readonly cursors: Cursors };

export interface SizeStage extends AsyncDisposable {
  /** As the owner; the services' parts are confined to the tenant in scope. */
  readonly owner: Database;
  readonly parts: Parts;
}

/** A migrated Postgres of its own, as durable as it always is, and the services over it. */
export async function setSizeStage(): Promise<SizeStage> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-size-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  // As root, Postgres runs under another account, which must reach its files.
  await chmod(folder, 0o711);
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), logger: silentLogger });
  undo.defer(() => server.stop());
  // Making a million rows takes longer than the vault lets a statement take.
  const { connectionString } = server;
  const patient = { connectionString, logger: silentLogger, statementTimeoutMs: 600_000 };
  const owner = createDatabase(patient);
  undo.defer(() => owner.close());
  const database = createDatabase({ ...patient, tenantScoped: true, role: API_ROLE });
  undo.defer(() => database.close());
  await migrate(owner, { logger: silentLogger });
  await upsertTenant(owner, newTenant({ id: TENANT }), []);
  const management = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
  const dataKeys = createDataKeys({ management, store: createDataKeyStore(database), clock: systemClock });
  undo.defer(() => dataKeys.close());
  const hasher = createKeyedHasher(dataKeys);
  const parts = {
    database,
    vault: createTokenVault(createSealer(dataKeys), hasher),
    audit: createAudit((entries) => insertLogs(database, entries)),
    clock: systemClock,
    cursors: createCursors(hasher),
    broadReads: createBroadReads({ database, metrics: createMetrics(), limits: { statementMs: 600_000 } }),
    largePages: createLargePages({ metrics: createMetrics() }),
  };
  const all = undo.move();
  return { owner, parts, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
