import type { DeclarationChange, DeclaredKind } from '../domain/declarations.ts';
import { tenantIdOf, DEFAULT_TENANT } from '../domain/declarations.ts';
import { settledWithin } from './timers.ts';
import type { Timers } from './timers.ts';
import { dependentsOf, everyKey, keysOf, needsReconciling, referrersOf } from './dependents.ts';
import { refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import { refKey } from './object-ref.ts';
import type { WorkQueue } from './queue.ts';
import { DEFAULT_TENANT_KEY } from './resource-controller.ts';
import type { CustomResource, ObjectRef, ReferentKind, ResourceKind, ResourceListener } from './sources/types.ts';
import type { ResourceStore } from './store.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** The API holds something else than before under an id. */
type ObjectChange = Extract<DeclarationChange, { id: string }>;

const DECLARED_KINDS: Record<ObjectChange['kind'], DeclaredKind> = {
  tenant: 'Tenant',
  application: 'Application',
  reactor: 'Reactor',
};

const RESYNC_INTERVAL_MS = 10 * 60 * 1000;
// Without the API no tenant can be declared, but status can tell so.
const TENANTS_GRACE_MS = 5_000;

/** Decides which resources are to be looked at: after events of the source, changes in the API, and now and then. */
export class Manager implements ResourceListener {
  readonly #store: ResourceStore;
  readonly #queue: WorkQueue;
  readonly #tenants: TenantDirectory;
  readonly #clock: Timers;
  #hasBegun = false;
  #cancelResync: () => void = () => undefined;

  constructor(store: ResourceStore, queue: WorkQueue, tenants: TenantDirectory, clock: Timers) {
    this.#store = store;
    this.#queue = queue;
    this.#tenants = tenants;
    this.#clock = clock;
  }

  /**
   * Has everything that the source listed looked at, and from now on every change. Tenants go first: whatever is done
   * before them would only be found waiting for them.
   */
  async begin(): Promise<void> {
    for (const key of [DEFAULT_TENANT_KEY, ...keysOf(this.#store, 'Tenant')]) this.#queue.add(key);
    await settledWithin(this.#clock, TENANTS_GRACE_MS, this.#queue.idle());
    this.#hasBegun = true;
    this.reconcileAll();
    this.#scheduleResync();
  }

  stop(): void {
    this.#cancelResync();
  }

  applied(resource: CustomResource): void {
    const now = resource as AnyResource;
    const before = this.#store.put(now);
    const own = needsReconciling(now, before) ? [refKey(refOf(now))] : [];
    this.#add([...own, ...dependentsOf(this.#store, now, before)]);
  }

  removed(ref: ObjectRef<ResourceKind>): void {
    const before = this.#store.remove(ref);
    // The tenant `default` goes back to default values; any other key without a resource comes to nothing.
    this.#add([refKey(ref), ...dependentsOf(this.#store, undefined, before)]);
  }

  referentChanged(ref: ObjectRef<ReferentKind>): void {
    this.#add(referrersOf(this.#store, ref));
  }

  /** The API holds something else than before: if it was declared, it is put back. */
  declarationChanged({ kind, tenantId, id }: ObjectChange): void {
    const resource = this.#store.findDeclared(DECLARED_KINDS[kind], tenantId, id);
    if (resource !== undefined) this.#add([refKey(refOf(resource))]);
    else if (kind === 'tenant' && id === tenantIdOf(DEFAULT_TENANT)) this.#add([DEFAULT_TENANT_KEY]);
  }

  /** The API knows a tenant that it did not know before: what waits for it can go on. */
  tenantDeclared(tenantId: string): void {
    const waiting = [...this.#store.list('Application'), ...this.#store.list('Reactor')];
    const ofTenant = waiting.filter(({ metadata }) => this.#tenants.tenantOf(metadata.namespace)?.id === tenantId);
    this.#add(ofTenant.map((resource) => refKey(refOf<'Application' | 'Reactor'>(resource))));
  }

  reconcileAll(): void {
    this.#add([DEFAULT_TENANT_KEY, ...everyKey(this.#store)]);
  }

  #add(keys: Iterable<string>): void {
    if (!this.#hasBegun) return;
    for (const key of new Set(keys)) this.#queue.add(key);
  }

  #scheduleResync(): void {
    this.#cancelResync = this.#clock.schedule(RESYNC_INTERVAL_MS, () => {
      this.reconcileAll();
      this.#scheduleResync();
    });
  }
}
