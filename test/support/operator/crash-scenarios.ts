import type { Scene } from './crash-scene.ts';
import type { SceneState } from './crash-state.ts';

/** A change that an operator brings about in several steps. */
export interface CrashScenario {
  readonly name: string;
  /** What is there, and reconciled, before the change. */
  prepare(scene: Scene): Promise<void>;
  /** The change itself. */
  act(scene: Scene): Promise<void>;
  /** Where in the end state the application is to be, and its keys: those that work, newest first. */
  readonly expected: {
    readonly applications: Readonly<Record<string, readonly string[]>>;
    readonly secrets: readonly string[];
  };
}

const KEY = '<key of payments-api-key>';
const FIRST_KEY = '<first key>';
const IN_A = 'application payments of <id of tenant a>';
const IN_B = 'application payments of <id of tenant b>';
const SECRET = 'Secret payments-api-key';
const LONG_AGO = new Date(Date.now() - 60 * 24 * 3600_000).toISOString();

type DeletionPolicy = 'Delete' | 'Retain';

const tenantSpec = (namespace: string): object => ({ type: 'production', namespaces: { matchNames: [namespace] } });

async function declareTenant(scene: Scene): Promise<void> {
  await scene.apply('Tenant', scene.tenantName('a'), { spec: tenantSpec(scene.namespace) });
}

async function declareApplication(scene: Scene, key: object = {}, deletionPolicy: DeletionPolicy = 'Delete') {
  await scene.apply('Application', 'payments', {
    spec: { type: 'private', permissions: ['token:create'], key, deletionPolicy },
  });
}

async function declareRule(scene: Scene): Promise<void> {
  const grants = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] };
  await scene.apply('AccessRule', 'reads', { spec: { applicationRef: { name: 'payments' }, ...grants } });
}

async function declareReactor(scene: Scene): Promise<void> {
  await scene.apply('ConfigMap', 'code', { data: { 'main.js': 'module.exports = async () => ({ raw: 1 });' } });
  await scene.apply('Reactor', 'enrich', {
    spec: { codeFrom: { configMap: { name: 'code', key: 'main.js' } }, applicationRef: { name: 'payments' } },
  });
}

async function declareRotated(scene: Scene): Promise<void> {
  await declareTenant(scene);
  await declareApplication(scene, { rotateAfter: '720h', overlap: '24h' });
}

async function declareKept(scene: Scene): Promise<void> {
  await declareTenant(scene);
  await declareApplication(scene);
}

const annotate = (scene: Scene, annotations: Record<string, string>): Promise<void> =>
  scene.patch('Secret', 'payments-api-key', { metadata: { annotations } });

export const CRASH_SCENARIOS: readonly CrashScenario[] = [
  {
    name: 'create',
    prepare: async () => undefined,
    async act(scene) {
      await Promise.all([declareRule(scene), declareReactor(scene), declareApplication(scene), declareTenant(scene)]);
    },
    expected: { applications: { [IN_A]: [KEY] }, secrets: [SECRET] },
  },
  {
    name: 'rotate',
    prepare: declareRotated,
    act: (scene) => annotate(scene, { 'tokenkeep.dev/key-created-at': LONG_AGO }),
    expected: { applications: { [IN_A]: [KEY, FIRST_KEY] }, secrets: [SECRET] },
  },
  {
    name: 'key of the Secret lost',
    prepare: declareKept,
    act: (scene) => scene.patch('Secret', 'payments-api-key', { data: { 'api-key': null } }),
    expected: { applications: { [IN_A]: [KEY] }, secrets: [SECRET] },
  },
  {
    name: 'Secret deleted',
    prepare: declareKept,
    act: (scene) => scene.remove('Secret', 'payments-api-key'),
    expected: { applications: { [IN_A]: [KEY] }, secrets: [SECRET] },
  },
  {
    name: 'secretName changed',
    prepare: declareKept,
    act: (scene) => scene.patch('Application', 'payments', { spec: { key: { secretName: 'other' } } }),
    expected: { applications: { [IN_A]: ['<key of other>'] }, secrets: ['Secret other'] },
  },
  {
    name: 'tenant move',
    async prepare(scene) {
      await declareTenant(scene);
      await Promise.all([declareApplication(scene), declareRule(scene), declareReactor(scene)]);
      await scene.apply('Tenant', scene.tenantName('b'), { spec: tenantSpec(scene.namespace) });
    },
    act: (scene) => scene.apply('Tenant', scene.tenantName('a'), { spec: tenantSpec(`${scene.namespace}-none`) }),
    expected: { applications: { [IN_B]: [FIRST_KEY] }, secrets: [SECRET] },
  },
  {
    name: 'delete, policy Delete',
    async prepare(scene) {
      await declareTenant(scene);
      await Promise.all([declareApplication(scene), declareReactor(scene)]);
    },
    async act(scene) {
      await Promise.all([scene.remove('Reactor', 'enrich'), scene.remove('Application', 'payments')]);
    },
    expected: { applications: {}, secrets: [] },
  },
  {
    name: 'delete, policy Retain',
    async prepare(scene) {
      await declareTenant(scene);
      await declareApplication(scene, {}, 'Retain');
    },
    act: (scene) => scene.remove('Application', 'payments'),
    expected: { applications: { [IN_A]: [FIRST_KEY] }, secrets: [SECRET] },
  },
];

/** The part of a state that `expected` of its scenario speaks of. */
export function outlineOf({ cluster, api }: SceneState): CrashScenario['expected'] {
  const applications = Object.entries(api)
    .filter(([name]) => name.startsWith('application '))
    .map(([name, row]) => [name, (row as { keys: string[] }).keys.map((key) => key.split(' until ')[0]!)] as const);
  return {
    applications: Object.fromEntries(applications),
    secrets: Object.keys(cluster).filter((name) => name.startsWith('Secret ')),
  };
}
