import type { Database } from '../../src/data/database.ts';
import { withinTenant } from '../../src/data/tenant-scope.ts';

/** A tenant-scoped database as one tenant's requests use it: for tests that make none. */
export function databaseWithin(tenantId: string, database: Database): Database {
  return {
    ...database,
    run: (statement, values) => withinTenant(tenantId, () => database.run(statement, values)),
    transaction: (work) => withinTenant(tenantId, () => database.transaction(work)),
  };
}
