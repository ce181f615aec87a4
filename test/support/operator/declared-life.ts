import { generateApplicationKey } from '../../../src/domain/application-keys.ts';
import { eventually } from '../eventually.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';

/** However slow the machine: each step is a few requests. */
const DEADLINE_MS = 120_000;

const GROUP = 'tokenkeep.dev';

export interface Declared {
  metadata: { name: string; namespace?: string; generation: number; resourceVersion: string; uid: string };
  spec: Record<string, unknown>;
  status: { observedGeneration?: number; conditions: { type: string; status: string; reason: string }[] };
}

/** A document of ours, or of core/v1. */
export function declared(kind: string, name: string, content: object, metadata: object = {}): object {
  const apiVersion = kind === 'Secret' || kind === 'ConfigMap' ? 'v1' : `${GROUP}/v1alpha1`;
  return { apiVersion, kind, metadata: { name, ...metadata }, ...content };
}

/** What a user with kubectl does in one namespace, and waits for. */
export function createUser(cluster: KubernetesCluster, namespace: string) {
  const inNamespace = ['-n', namespace];

  async function get<T = Declared>(kind: string, name: string): Promise<T> {
    return JSON.parse(await cluster.demand(['get', kind, name, ...inNamespace, '-o', 'json'])) as T;
  }

  return {
    namespace,
    get,
    async apply(...documents: object[]): Promise<void> {
      const input = documents.map((document) => JSON.stringify(document)).join('\n---\n');
      await cluster.demand(['apply', '--server-side', '--force-conflicts', ...inNamespace, '-f', '-'], { input });
    },
    /** Resolves once the operator has seen the last change, and found this. */
    async waitFor(kind: string, name: string, condition: string, reason?: string): Promise<Declared> {
      const isThere = async (): Promise<Declared> => {
        const object = await get(kind, name);
        const { metadata, status } = object;
        const found = status.conditions.find(({ type }) => type === condition);
        const isMet = found?.status === 'True' && (reason === undefined || found.reason === reason);
        if (isMet && status.observedGeneration === metadata.generation) return object;
        throw new Error(`${kind} ${name} is not ${condition}: ${JSON.stringify(status)}`);
      };
      return eventually(isThere, { deadlineMs: DEADLINE_MS, everyMs: 50 });
    },
    /** The API key in a Secret, once it is another than `before`. */
    async key(secret: string, before?: string): Promise<string> {
      const isThere = async (): Promise<string> => {
        const { data } = await get<{ data: Record<string, string> }>('secret', secret);
        const key = Buffer.from(data['api-key'] ?? '', 'base64').toString();
        if (key === '' || key === before) throw new Error(`Secret ${secret} holds no other key yet`);
        return key;
      };
      return eventually(isThere, { deadlineMs: DEADLINE_MS, everyMs: 50 });
    },
    /** Resolves once it is gone. */
    async remove(kind: string, name: string): Promise<void> {
      await cluster.demand(['delete', kind, name, ...inNamespace, `--timeout=${DEADLINE_MS / 1000}s`]);
    },
  };
}

export type User = ReturnType<typeof createUser>;

/**
 * One of each kind, through all that may happen to it: made, changed, its key rotated, lost and altered, and deleted.
 * The Tenant and all in it are gone at the end.
 */
export async function liveThrough(user: User): Promise<void> {
  const tenant = `tenant-of-${user.namespace}`;
  const own = { namespace: user.namespace };
  const brought = generateApplicationKey('production', 'private');
  const application = (permissions: string[]): object =>
    declared('Application', 'shop', { spec: { type: 'private', permissions, key: { rotateAfter: '720h' } } }, own);
  await user.apply(
    declared('Tenant', tenant, { spec: { namespaces: { matchNames: [user.namespace] }, deletionPolicy: 'Delete' } }),
    declared(
      'AccessRule',
      'shop-cards',
      {
        spec: {
          applicationRef: { name: 'shop' },
          ...{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
        },
      },
      own,
    ),
    declared('Reactor', 'score', { spec: { codeFrom: { configMap: { name: 'score', key: 'code' } } } }, own),
    application(['token:create']),
    declared(
      'Application',
      'guest',
      { spec: { type: 'private', permissions: ['token:create'], key: { fromSecret: { name: 'guest', key: 'key' } } } },
      own,
    ),
    declared('ConfigMap', 'score', { data: { code: 'module.exports = async () => ({ raw: 1 });' } }, own),
    declared('Secret', 'guest', { stringData: { key: brought } }, own),
  );
  for (const name of ['shop', 'guest']) await user.waitFor('application', name, 'Ready');
  await user.waitFor('tenant', tenant, 'Ready');
  await user.waitFor('accessrule', 'shop-cards', 'Ready');
  await user.waitFor('reactor', 'score', 'Reconciling', 'NoRuntime');

  await user.apply(application(['token:create', 'token:delete']));
  await user.waitFor('application', 'shop', 'Ready');

  const first = await user.key('shop-api-key');
  await user.remove('secret', 'shop-api-key');
  const second = await user.key('shop-api-key', first);
  await user.remove('secret', 'shop-api-key');
  await user.key('shop-api-key', second);
  const altered = generateApplicationKey('production', 'private');
  await user.apply(declared('Secret', 'shop-api-key', { stringData: { 'api-key': altered } }, own));
  await user.key('shop-api-key', altered);

  await user.remove('accessrule', 'shop-cards');
  await user.remove('reactor', 'score');
  for (const name of ['shop', 'guest']) await user.remove('application', name);
  await user.remove('tenant', tenant);
}
