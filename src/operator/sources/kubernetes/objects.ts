import type { JsonObject } from '../../../domain/json.ts';
import type { ResourcePath } from '../../../platform/kubernetes/paths.ts';
import type { ObjectRef, ReferentKind, ResourceKind } from '../types.ts';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

/** The members of every object's metadata that we read. */
export interface KubernetesMetadata {
  name: string;
  /** Absent for a cluster-scoped object. */
  namespace?: string;
  uid: string;
  resourceVersion: string;
  /** Absent for kinds that have no spec. */
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

/** What a metadata-only list or watch gives of any object. */
export interface MetadataObject {
  metadata: KubernetesMetadata;
}

/** An object of one of our kinds, as the API server keeps it. */
export interface CustomObject extends MetadataObject {
  spec?: JsonObject;
  status?: JsonObject;
}

/** A core/v1 Secret; values are in base64. */
export interface SecretObject extends MetadataObject {
  type?: string;
  immutable?: boolean;
  data?: Record<string, string>;
}

/** A core/v1 ConfigMap. */
export interface ConfigMapObject extends MetadataObject {
  data?: Record<string, string>;
  /** In base64. */
  binaryData?: Record<string, string>;
}

export const GROUP = 'tokenkeep.dev';
const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

const PLURALS: Record<ResourceKind, string> = {
  Tenant: 'tenants',
  Application: 'applications',
  AccessRule: 'accessrules',
  Reactor: 'reactors',
};
const CORE_PLURALS: Record<ReferentKind, string> = { ConfigMap: 'configmaps', Secret: 'secrets' };

/** Where the objects of a kind are: in one namespace, or in all. */
export function collectionOf(kind: ResourceKind, namespace?: string): ResourcePath {
  return { group: GROUP, version: VERSION, plural: PLURALS[kind], ...(namespace === undefined ? {} : { namespace }) };
}

export function coreCollection(kind: ReferentKind, namespace?: string): ResourcePath {
  return { group: '', version: 'v1', plural: CORE_PLURALS[kind], ...(namespace === undefined ? {} : { namespace }) };
}

/** Where one object of ours is. */
export function pathOf({ kind, namespace, name }: ObjectRef<ResourceKind>): ResourcePath {
  return { ...collectionOf(kind, namespace === '' ? undefined : namespace), name };
}

/** What every apply names: the object, and with `uid` this very one, so that apply makes none anew. */
export function identityOf({ kind, namespace, name }: ObjectRef<ResourceKind>, uid: string) {
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, uid, ...(namespace === '' ? {} : { namespace }) },
  };
}
