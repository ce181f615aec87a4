import type { Database } from '../../../src/data/database.ts';
import { digestOfKey } from '../../../src/domain/application-keys.ts';
import { declaredId } from '../../../src/domain/declarations.ts';
import type { KubernetesObject, Scene } from './crash-scene.ts';

/** What a scene has come to, in the cluster and in the API, with all that differs from run to run put by its role. */
export interface SceneState {
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly api: Readonly<Record<string, unknown>>;
}

interface ApplicationRow {
  tenantId: string;
  id: string;
  name: string;
  type: string;
  permissions: string[];
  rules: unknown;
  expiresAt: Date | null;
}

interface KeyRow {
  applicationId: string;
  digest: string;
  expiresAt: Date | null;
}

interface ReactorRow {
  tenantId: string;
  id: string;
  name: string;
  applicationId: string | null;
}

const CUSTOM_KINDS = ['Tenant', 'Application', 'AccessRule', 'Reactor'] as const;
const KEY_DIGEST = 'tokenkeep.dev/key-digest';
const KEY_CREATED_AT = 'tokenkeep.dev/key-created-at';
const PREVIOUS_EXPIRES_AT = 'tokenkeep.dev/previous-key-expires-at';

/** What stands for what, in the order in which it is looked for. */
type Roles = Map<string, string>;

function sorted<Value>(entries: [string, Value][]): Record<string, Value> {
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function describeResource({ metadata, status }: KubernetesObject): object {
  const { conditions = [], observedGeneration, ...fields } = status ?? {};
  return {
    finalizers: metadata.finalizers ?? [],
    isDeleting: metadata.deletionTimestamp !== undefined,
    isObserved: observedGeneration === metadata.generation,
    conditions: conditions.map(({ type, status: value, reason }) => `${type}=${value} ${reason}`).sort(),
    ...fields,
  };
}

function describeSecret({ type, metadata, data = {} }: KubernetesObject, uids: ReadonlySet<string>): object {
  const decoded = Object.entries(data).map(([entry, value]) => [entry, Buffer.from(value, 'base64').toString()]);
  const { 'api-key': key, ...entries } = Object.fromEntries(decoded) as Record<string, string>;
  return {
    type,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    owners: (metadata.ownerReferences ?? []).map(
      ({ kind, name, uid, controller }) =>
        `${kind} ${name} controller=${controller} ${uids.has(uid) ? 'present' : 'gone'}`,
    ),
    key: key === undefined ? 'none' : digestOfKey(key),
    entries: sorted(Object.entries(entries)),
  };
}

async function describeApi(scene: Scene, database: Database): Promise<Record<string, unknown>> {
  const tenants = Object.values(scene.tenantIds);
  const inScene = 'where tenant_id = any ($1::uuid[])';
  const [owners, applications, keys, reactors] = await Promise.all([
    database.run<{ name: string; type: string }>({ text: `select name, type from tenants ${inScene}` }, [tenants]),
    database.run<ApplicationRow>(
      {
        text: `select tenant_id as "tenantId", application_id as "id", name, type, permissions, rules,
          expires_at as "expiresAt" from applications ${inScene}`,
      },
      [tenants],
    ),
    database.run<KeyRow>(
      {
        text: `select application_id as "applicationId", encode(digest, 'hex') as digest, expires_at as "expiresAt"
          from application_keys ${inScene} order by expires_at nulls first, digest`,
      },
      [tenants],
    ),
    database.run<ReactorRow>(
      {
        text: `select tenant_id as "tenantId", reactor_id as "id", name, application_id as "applicationId"
          from reactors ${inScene}`,
      },
      [tenants],
    ),
  ]);
  return sorted([
    ...owners.map(({ name, type }): [string, unknown] => [`tenant ${name}`, { type }]),
    ...applications.map(({ id, name, ...row }): [string, unknown] => {
      const own = keys.filter(({ applicationId }) => applicationId === id);
      const described = own.map(({ digest, expiresAt }) => `${digest} until ${expiresAt?.toISOString() ?? 'revoked'}`);
      return [`application ${name} of ${row.tenantId}`, { ...row, id, keys: described }];
    }),
    ...reactors.map(({ name, ...row }): [string, unknown] => [`reactor ${name} of ${row.tenantId}`, row]),
  ]);
}

/** Ids, uids, digests and instants of a scene by what they are. Longer-lived roles go first. */
function rolesOf(
  scene: Scene,
  { resources, secrets }: { resources: KubernetesObject[]; secrets: KubernetesObject[] },
  names: string[],
  known: Roles,
): Roles {
  const roles = new Map(known);
  const add = (value: string | undefined, role: string): void => {
    if (value !== undefined && !roles.has(value)) roles.set(value, role);
  };
  for (const tenant of ['a', 'b'] as const) {
    const tenantId = scene.tenantIds[tenant];
    for (const kind of ['Application', 'Reactor'] as const) {
      for (const name of names) {
        add(declaredId(tenantId, kind, scene.namespace, name), `<id of ${kind} ${name} in tenant ${tenant}>`);
      }
    }
    add(tenantId, `<id of tenant ${tenant}>`);
  }
  for (const { kind, metadata } of resources) add(metadata.uid, `<uid of ${kind} ${metadata.name}>`);
  for (const { metadata } of secrets) {
    add(metadata.annotations?.[KEY_DIGEST], `<key of ${metadata.name}>`);
    add(metadata.annotations?.[KEY_CREATED_AT], '<when it was made>');
    add(metadata.annotations?.[PREVIOUS_EXPIRES_AT], '<end of the overlap>');
  }
  add(scene.namespace, '<namespace>');
  return roles;
}

/**
 * Reads a scene. `known` gives roles to values of earlier on, such as the digest of the first key: without it, a key
 * that was kept looks like one that was replaced.
 */
export async function readSceneState(scene: Scene, database: Database, known: Roles = new Map()): Promise<SceneState> {
  const [secrets, ...kinds] = await Promise.all([
    scene.list('Secret'),
    ...CUSTOM_KINDS.map(async (kind) => (await scene.list(kind)).map((object) => ({ ...object, kind }))),
  ]);
  const resources = kinds.flat();
  const uids = new Set(resources.map(({ metadata }) => metadata.uid));
  const cluster = sorted([
    ...resources.map((object): [string, object] => [
      `${object.kind} ${object.metadata.name}`,
      describeResource(object),
    ]),
    ...secrets.map((secret): [string, object] => [`Secret ${secret.metadata.name}`, describeSecret(secret, uids)]),
  ]);
  const api = await describeApi(scene, database);
  const names = ['payments', 'enrich'];
  let text = JSON.stringify({ cluster, api });
  for (const [value, role] of rolesOf(scene, { resources, secrets }, names, known)) text = text.replaceAll(value, role);
  return JSON.parse(text) as SceneState;
}
