import type { Condition } from '../../domain/resource-status.ts';

/** The kinds that are reconciled. Tenant is cluster-scoped: its namespace is the empty string. */
export const RESOURCE_KINDS = ['Tenant', 'Application', 'AccessRule', 'Reactor'] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Kinds of core/v1 that a declared resource may refer to. */
export type ReferentKind = 'ConfigMap' | 'Secret';

/** Kinds of core/v1 that a source follows. */
export type CoreKind = ReferentKind | 'Namespace';

/** Names one object. A namespace is a DNS label and a name a DNS subdomain (RFC 1123): both are safe in a path. */
export interface ObjectRef<Kind extends string = string> {
  kind: Kind;
  namespace: string;
  name: string;
}

export interface ObjectMeta {
  namespace: string;
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Another for each object that ever had this name. */
  uid?: string;
  /** Of two versions, the one with the greater number is newer; absent where the source tells only of the newest. */
  resourceVersion?: string;
  /** Grows by one whenever `spec` changes, and only then. */
  generation: number;
  /** ISO 8601: when the source first saw the resource. Order of seniority where two resources conflict. */
  creationTimestamp: string;
  /** ISO 8601; present once the resource is to be cleaned up: see `setFinalizer`. */
  deletionTimestamp?: string;
}

export interface ResourceStatus {
  /** The generation that `conditions` speak of. */
  observedGeneration?: number;
  conditions: Condition[];
}

/** A custom resource that passed its schema and CEL rules, with defaults filled in. */
export interface CustomResource<
  Kind extends ResourceKind = ResourceKind,
  Spec = unknown,
  Status extends ResourceStatus = ResourceStatus,
> {
  kind: Kind;
  metadata: ObjectMeta;
  /**
   * Not to be read once `deletionTimestamp` is set: a source may have forgotten it. What cleaning up needs is in
   * status.
   */
  spec: Spec;
  status?: Status;
}

/** Entries of a ConfigMap or Secret by name; null for one that holds something else than UTF-8 text. */
export type ReferentEntries = Record<string, string | null>;

/** A Secret that the operator made and may change or delete. */
export interface OwnedSecret {
  namespace: string;
  name: string;
  owner: ObjectRef<ResourceKind>;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Entry name to value. */
  data: Record<string, string>;
  /** Whether it outlives its owner. */
  isRetained: boolean;
}

/** An owned Secret as it was read. */
export interface StoredSecret extends OwnedSecret {
  /** Whether its entries can never be changed, only deleted with it. */
  isImmutable: boolean;
  /** Tells this state from any other; for the source that gave it only. */
  version: unknown;
}

/** Told of everything once at the start, then of each change. Calls come in order and must not throw. */
export interface ResourceListener {
  /** New, changed (also in status or metadata only), or to be cleaned up (`deletionTimestamp`). */
  applied(resource: CustomResource): void;
  removed(ref: ObjectRef<ResourceKind>): void;
  /** A ConfigMap or Secret came, changed or went. Its content is asked for by `readReferent`: no event carries it. */
  referentChanged(ref: ObjectRef<ReferentKind>): void;
  /** Any of them may have come, changed or gone: not all changes were told of. */
  referentsMissed(kind: ReferentKind): void;
  /** The labels of a namespace, when they become known and whenever they change; undefined once it is gone. */
  namespaceChanged(name: string, labels: Record<string, string> | undefined): void;
}

/**
 * Where custom resources come from and where their status goes. Reconcilers know nothing else of Kubernetes or of
 * folders. All methods reject with an error that may be retried.
 */
export interface ResourceSource {
  /** Whether a namespace is there without being told of; it has no labels then but the one that names it. */
  readonly hasImplicitNamespaces?: boolean;

  /** Resolves once the listener has been told of everything that is there. */
  start(listener: ResourceListener): Promise<void>;
  stop(): Promise<void>;

  /** Replaces the status; the listener is told. Does nothing where the resource is gone. */
  writeStatus(ref: ObjectRef<ResourceKind>, status: ResourceStatus): Promise<void>;
  /**
   * While set, a deleted resource stays with a `deletionTimestamp` until the finalizer is taken off. Durable once the
   * promise resolves, so set it before the first effect that would need cleaning up.
   */
  setFinalizer(ref: ObjectRef<ResourceKind>, present: boolean): Promise<void>;
  /** Tells a person what happened to a resource. Never holds values. */
  recordEvent(ref: ObjectRef<ResourceKind>, event: ResourceEvent): void;

  /** Undefined where there is none. */
  readReferent(ref: ObjectRef<ReferentKind>): Promise<ReferentEntries | undefined>;
  /** Undefined where there is none, `'foreign'` where one exists that the operator did not make. */
  readOwnedSecret(namespace: string, name: string): Promise<StoredSecret | 'foreign' | undefined>;
  /**
   * Makes the Secret where none was read, else changes what differs from what was read; does nothing where nothing
   * does. Rejects where another writer came in between, so that of two only one takes effect, and with a
   * NamespaceTerminatingError where nothing can be made any more.
   */
  writeOwnedSecret(secret: OwnedSecret, before: StoredSecret | undefined): Promise<void>;
  /** Deletes what was read; leaves alone what another writer made of it since. */
  deleteOwnedSecret(secret: StoredSecret): Promise<void>;
}

export interface ResourceEvent {
  type: 'Normal' | 'Warning';
  /** CamelCase: `KeyCreated`. */
  reason: string;
  message: string;
}
