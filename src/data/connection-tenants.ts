import type pg from 'pg';
import { tenantInScope } from './tenant-scope.ts';

/** What row-level security reads of a session; empty for no tenant. */
const ENTER = { name: 'enter-tenant', text: `select set_config('tokenkeep.tenant_id', $1, false)` };

/**
 * Which tenant each connection of a pool is set to. It stays set, so that a deployment with one tenant sets it once; a
 * new connection is set to none.
 */
export class ConnectionTenants {
  /** Undefined: none. Null: unknown, since setting it has not been confirmed. */
  readonly #tenants = new WeakMap<pg.ClientBase, string | null>();

  /**
   * Sets a connection, which nobody else uses, to the tenant in scope; undefined where it is. The statement that comes
   * next may be sent at once, but its answer must not be used, nor the connection ever again, where this rejects.
   */
  enter(client: pg.ClientBase): Promise<unknown> | undefined {
    const tenant = tenantInScope() ?? '';
    const current = this.#tenants.get(client);
    if ((current === undefined ? '' : current) === tenant) return undefined;
    this.#tenants.set(client, null);
    return client.query({ ...ENTER, values: [tenant] }).then(() => this.#tenants.set(client, tenant));
  }
}
