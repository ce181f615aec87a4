import type { DeclarationChange, DeclaredKind } from '../domain/declarations.ts';
import { tenantIdOf, DEFAULT_TENANT } from '../domain/declarations.ts';
import { settledWithin } from './timers.ts';
import type { Timers } from './timers.ts';
import type { CleanedResources } from './cleaned-resources.ts';
import { dependentsOf, everyKey, everyReferrer, keysIn, keysOf, needsReconciling, referrersOf } from './dependents.ts';
import { refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import type { NamespaceLabels } from './namespace-owners.ts';
import { refKey } from './object-ref.ts';
import type { Priority } from './queue-lanes.ts';
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
  readonly #queue: Pick<WorkQueue, 'add' | 'idle'>;
  readonly #tenants: TenantDirectory;
  readonly #clock: Timers;
  readonly #cleaned: CleanedResources;
  #hasBegun = false;
  #isStopped = false;
  #cancelResync: () => void = () => undefined;

  constructor(
    store: ResourceStore,
    queue: Pick<WorkQueue, 'add' | 'idle'>,
    tenants: TenantDirectory,
    clock: Timers,
    cleaned: CleanedResources,
  ) {
    this.#store = store;
    this.#queue = queue;
    this.#tenants = tenants;
    this.#clock = clock;
    this.#cleaned = cleaned;
  }

  /**
   * Has everything that the source listed looked at, and from now on every change. Tenants go first: whatever is done
   * before them would only be found waiting for them.
   */
  async begin(): Promise<void> {
    for (const key of [DEFAULT_TENANT_KEY, ...keysOf(this.#store, 'Tenant')]) this.#queue.add(key);
    await settledWithin(this.#clock, TENANTS_GRACE_MS, this.#queue.idle());
    if (this.#isStopped) return;
    this.#hasBegun = true;
    this.reconcileAll();
    this.#scheduleResync();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelResync();
  }

  applied(resource: CustomResource): void {
    const now = resource as AnyResource;
    const { taken, before } = this.#store.put(now);
    if (!taken) return;
    if (now.kind === 'Tenant' && needsReconciling(now, before)) this.#tenants.tenantsChanged();
    const own = needsReconciling(now, before) ? [refKey(refOf(now))] : [];
    this.#add([...own, ...dependentsOf(this.#store, now, before)]);
  }

  removed(ref: ObjectRef<ResourceKind>): void {
    const before = this.#store.remove(ref);
    if (ref.kind === 'Tenant') this.#tenants.tenantsChanged();
    // The tenant `default` goes back to default values; any other key without a resource comes to nothing.
    this.#add([refKey(ref), ...dependentsOf(this.#store, undefined, before)]);
  }

  referentChanged(ref: ObjectRef<ReferentKind>): void {
    this.#add(referrersOf(this.#store, ref));
  }

  referentsMissed(kind: ReferentKind): void {
    this.#add(everyReferrer(this.#store, kind), 'low');
  }

  /** Where its labels make a namespace another tenant's, what is in it moves there. */
  namespaceChanged(namespace: string, labels: NamespaceLabels | undefined): void {
    const { moved, tenants } = this.#tenants.namespaceChanged(namespace, labels);
    this.#add([
      ...tenants.map((name) => refKey({ kind: 'Tenant', namespace: '', name })),
      ...(moved ? keysIn(this.#store, namespace) : []),
    ]);
  }

  /** The API holds something else than before: if it is declared, it is put back, and if it was, it goes again. */
  declarationChanged({ kind, tenantId, id }: ObjectChange): void {
    const resources = [...this.#store.listDeclared(DECLARED_KINDS[kind], tenantId, id)];
    // Also where its resource is known: that one may be gone already, and the source not have told so yet.
    const gone = this.#cleaned.cameBack(DECLARED_KINDS[kind], tenantId, id);
    if (resources.length > 0) this.#add(resources.map((resource) => refKey(refOf(resource))));
    else if (kind === 'tenant' && id === tenantIdOf(DEFAULT_TENANT)) this.#add([DEFAULT_TENANT_KEY]);
    else if (gone !== undefined) this.#add([gone]);
  }

  /** The API may hold anything else than before: changes of it were not told. */
  declarationsMissed(): void {
    this.#add(this.#cleaned.mayBeBack());
    this.reconcileAll();
  }

  /** The API has lost the tenant of a namespace: it is declared again, and what found so is tried again by itself. */
  tenantMissing(namespace: string): void {
    const tenant = this.#tenants.tenantOf(namespace);
    if (tenant !== undefined) this.declarationChanged({ kind: 'tenant', tenantId: tenant.id, id: tenant.id });
  }

  /** The API knows a tenant that it did not know before: what waits for it can go on. */
  tenantDeclared(tenantId: string): void {
    const waiting = [...this.#store.list('Application'), ...this.#store.list('Reactor')];
    const ofTenant = waiting.filter(({ metadata }) => this.#tenants.tenantOf(metadata.namespace)?.id === tenantId);
    this.#add(ofTenant.map((resource) => refKey(refOf<'Application' | 'Reactor'>(resource))));
  }

  /** What changes meanwhile has its turn first. */
  reconcileAll(): void {
    this.#add([DEFAULT_TENANT_KEY, ...everyKey(this.#store)], 'low');
  }

  #add(keys: Iterable<string>, priority?: Priority): void {
    if (!this.#hasBegun) return;
    for (const key of new Set(keys)) this.#queue.add(key, priority);
  }

  #scheduleResync(): void {
    this.#cancelResync = this.#clock.schedule(RESYNC_INTERVAL_MS, () => {
      this.reconcileAll();
      this.#scheduleResync();
    });
  }
}
