import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<string>();

/**
 * Does work for one tenant: whatever it, and all that it waits for, reads or writes through a tenant-scoped database is
 * that tenant's, whatever its statements ask for. Entered where it is known on whose behalf a request acts, and not
 * with an id that merely names what the request is about; save for the control plane, which is no tenant's, has proved
 * itself by its token, and acts for the tenant whose declarations it brings.
 */
export function withinTenant<Result>(tenantId: string, work: () => Result): Result {
  return scope.run(tenantId, work);
}

/** Undefined outside of any tenant's work: nothing of any tenant can be seen then. */
export function tenantInScope(): string | undefined {
  return scope.getStore();
}
