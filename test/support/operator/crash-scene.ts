import { randomBytes } from 'node:crypto';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import type { ResourcePath } from '../../../src/platform/kubernetes/paths.ts';
import type { EffectFilter } from './effects-proxy.ts';

const OURS = { group: 'tokenkeep.dev', version: 'v1alpha1' };
const CORE = { group: '', version: 'v1' };
const COLLECTIONS = {
  Tenant: { ...OURS, plural: 'tenants' },
  Application: { ...OURS, plural: 'applications' },
  AccessRule: { ...OURS, plural: 'accessrules' },
  Reactor: { ...OURS, plural: 'reactors' },
  Secret: { ...CORE, plural: 'secrets' },
  ConfigMap: { ...CORE, plural: 'configmaps' },
  Namespace: { ...CORE, plural: 'namespaces' },
} as const satisfies Record<string, ResourcePath>;

export type SceneKind = keyof typeof COLLECTIONS;
export type SceneTenant = 'a' | 'b';

/** As much of any object as tests look at. */
export interface KubernetesObject {
  kind: string;
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    deletionTimestamp?: string;
    ownerReferences?: { kind: string; name: string; uid: string; controller?: boolean }[];
  };
  type?: string;
  data?: Record<string, string>;
  status?: Record<string, unknown> & {
    observedGeneration?: number;
    conditions?: { type: string; status: string; reason: string }[];
  };
}

/** A namespace and two tenants of a test's own, over a cluster that others use too. */
export interface Scene {
  readonly namespace: string;
  readonly tenantIds: Readonly<Record<SceneTenant, string>>;
  tenantName(tenant: SceneTenant): string;
  /** Whether an effect is on anything of this scene. */
  readonly concerns: EffectFilter;
  /** Makes an object, or what differs of it, what is given: `spec`, `data` and `metadata`. */
  apply(kind: SceneKind, name: string, content: object): Promise<void>;
  patch(kind: SceneKind, name: string, patch: object): Promise<void>;
  /** Asks for its deletion; a finalizer may keep it. */
  remove(kind: SceneKind, name: string): Promise<void>;
  read(kind: SceneKind, name: string): Promise<KubernetesObject | undefined>;
  list(kind: SceneKind): Promise<KubernetesObject[]>;
}

/** Makes the namespace; tenants are named here and declared by whoever needs them. */
export async function createScene(client: KubernetesClient): Promise<Scene> {
  const namespace = `scene-${randomBytes(5).toString('hex')}`;
  const tenantName = (tenant: SceneTenant): string => `${namespace}-${tenant}`;
  const tenantIds = { a: tenantIdOf(tenantName('a')), b: tenantIdOf(tenantName('b')) };
  const marks = [namespace, tenantIds.a, tenantIds.b];

  function collectionOf(kind: SceneKind): ResourcePath {
    return kind === 'Tenant' || kind === 'Namespace' ? COLLECTIONS[kind] : { ...COLLECTIONS[kind], namespace };
  }

  await client.create(COLLECTIONS.Namespace, {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: namespace },
  });
  return {
    ...{ namespace, tenantIds, tenantName },
    concerns: ({ path }) => marks.some((mark) => path.includes(mark)),
    async apply(kind, name, content) {
      const { group, version } = COLLECTIONS[kind];
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const { metadata = {}, ...rest } = content as { metadata?: object };
      const object = { apiVersion, kind, metadata: { ...metadata, name }, ...rest };
      await client.apply({ ...collectionOf(kind), name }, object, 'kubectl');
    },
    patch: async (kind, name, patch) => void (await client.mergePatch({ ...collectionOf(kind), name }, patch)),
    remove: (kind, name) => client.remove({ ...collectionOf(kind), name }),
    read: (kind, name) => client.read<KubernetesObject>({ ...collectionOf(kind), name }),
    async list(kind) {
      const { items } = await client.listPage<KubernetesObject>(collectionOf(kind), {});
      if (kind !== 'Tenant') return items;
      return items.filter(({ metadata }) => metadata.name.startsWith(`${namespace}-`));
    },
  };
}

/** Deletes all that a scene declared; the operator must be running. */
export async function clearScene(scene: Scene): Promise<void> {
  for (const kind of ['AccessRule', 'Reactor', 'Application', 'Tenant'] as const) {
    for (const { metadata } of await scene.list(kind)) await scene.remove(kind, metadata.name);
  }
}
