import type { Condition } from '../../domain/resource-status.ts';

/** The kinds that are reconciled. Tenant is cluster-scoped: its namespace is the empty string. */
export const RESOURCE_KINDS = ['Tenant', 'Application', 'AccessRule', 'Reactor'] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Kinds of core/v1 that a declared resource may refer to. */
export type ReferentKind = 'ConfigMap' | 'Secret';

/** Names one object. Namespace and name are DNS labels (RFC 1123), so that both are safe in a path. */
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

/** A Secret that the operator made and may change or delete. */
export interface OwnedSecret {
  namespace: string;
  name: string;
  owner: ObjectRef<ResourceKind>;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Entry name to value. */
  data: Record<string, string>;
}

/** Told of everything once at the start, then of each change. Calls come in order and must not throw. */
export interface ResourceListener {
  /** New, changed (also in status or metadata only), or to be cleaned up (`deletionTimestamp`). */
  applied(resource: CustomResource): void;
  removed(ref: ObjectRef<ResourceKind>): void;
  /** A ConfigMap or Secret came, changed or went. Its content is asked for by `readReferent`: no event carries it. */
  referentChanged(ref: ObjectRef<ReferentKind>): void;
}

/**
 * Where custom resources come from and where their status goes. Reconcilers know nothing else of Kubernetes or of
 * folders. All methods reject with an error that may be retried.
 */
export interface ResourceSource {
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

  /** Entries of a ConfigMap or Secret, decoded; undefined where there is none. */
  readReferent(ref: ObjectRef<ReferentKind>): Promise<Record<string, string> | undefined>;
  /** Undefined where there is none, `'foreign'` where one exists that the operator did not make. */
  readOwnedSecret(namespace: string, name: string): Promise<OwnedSecret | 'foreign' | undefined>;
  /** Creates or replaces; rejects rather than overwrite a foreign Secret. */
  writeOwnedSecret(secret: OwnedSecret): Promise<void>;
  /** Deletes a Secret that is ours; leaves any other alone. */
  deleteOwnedSecret(namespace: string, name: string): Promise<void>;
}

export interface ResourceEvent {
  type: 'Normal' | 'Warning';
  /** CamelCase: `KeyCreated`. */
  reason: string;
  message: string;
}
