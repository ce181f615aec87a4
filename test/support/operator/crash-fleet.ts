import { expect } from 'chai';
import type { Database } from '../../../src/data/database.ts';
import { digestOfKey } from '../../../src/domain/application-keys.ts';
import { eventually } from '../eventually.ts';
import type { KubernetesObject, Scene } from './crash-scene.ts';

/** One Application of many, as the cluster and the API have it. */
export interface FleetMember {
  readonly name: string;
  readonly isReady: boolean;
  /** Digest of the key in its Secret; undefined where it has none. */
  readonly secretKey: string | undefined;
  /** Digests of the keys that open the API: those without an end first. */
  readonly openKeys: readonly string[];
  readonly endingKeys: readonly string[];
}

interface KeyRow {
  name: string;
  digest: string | null;
  ends: boolean;
}

const DEADLINE_MS = 120_000;

export const fleetNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `app-${index}`);

/** Declares Applications in the scene's tenant `a`, all at once. */
export async function declareFleet(scene: Scene, names: readonly string[], key: object = {}): Promise<void> {
  await scene.apply('Tenant', scene.tenantName('a'), {
    spec: { type: 'production', namespaces: { matchNames: [scene.namespace] } },
  });
  const spec = { type: 'private', permissions: ['token:create'], key };
  await Promise.all(names.map((name) => scene.apply('Application', name, { spec })));
}

export async function annotateSecrets(
  scene: Scene,
  names: readonly string[],
  annotations: Record<string, string>,
): Promise<void> {
  await Promise.all(names.map((name) => scene.patch('Secret', `${name}-api-key`, { metadata: { annotations } })));
}

function isReady({ metadata, status }: KubernetesObject): boolean {
  const isTrue = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  return isTrue && status?.observedGeneration === metadata.generation;
}

/** Everything of the scene that is an Application, has a key of one, or is a Secret for one, in the order of names. */
export async function readFleet(scene: Scene, database: Database): Promise<FleetMember[]> {
  const [applications, secrets, rows] = await Promise.all([
    scene.list('Application'),
    scene.list('Secret'),
    database.run<KeyRow>(
      {
        text: `select a.name, encode(k.digest, 'hex') as digest, k.expires_at is not null as ends
          from applications a left join application_keys k using (tenant_id, application_id)
          where a.tenant_id = any ($1::uuid[]) order by k.digest`,
      },
      [Object.values(scene.tenantIds)],
    ),
  ]);
  const keyOf = new Map(
    secrets.map(({ metadata, data }) => [
      metadata.name.replace(/-api-key$/, ''),
      digestOfKey(Buffer.from(data?.['api-key'] ?? '', 'base64').toString()),
    ]),
  );
  const names = new Set([...applications.map(({ metadata }) => metadata.name), ...keyOf.keys()]);
  for (const { name } of rows) names.add(name);
  const digestsOf = (name: string, ends: boolean): string[] =>
    rows.flatMap((row) => (row.name === name && row.digest !== null && row.ends === ends ? [row.digest] : []));
  return [...names].sort().map((name) => {
    const application = applications.find(({ metadata }) => metadata.name === name);
    return {
      name,
      isReady: application !== undefined && isReady(application),
      secretKey: keyOf.get(name),
      openKeys: digestsOf(name, false),
      endingKeys: digestsOf(name, true),
    };
  });
}

/** Waits until each Application is Ready, with one key that has no end: that of its Secret. */
export function fleetReady(
  scene: Scene,
  database: Database,
  names: readonly string[],
  isEnough: (member: FleetMember) => boolean = () => true,
): Promise<FleetMember[]> {
  return eventually(
    async () => {
      const fleet = await readFleet(scene, database);
      expect(fleet.map(({ name }) => name)).to.deep.equal([...names].sort());
      const faulty = fleet.filter(
        (member) => !member.isReady || member.openKeys.join() !== member.secretKey || !isEnough(member),
      );
      expect(faulty).to.deep.equal([]);
      return fleet;
    },
    { deadlineMs: DEADLINE_MS, everyMs: 100 },
  );
}

/** Waits until nothing of any Application is left. */
export async function fleetGone(scene: Scene, database: Database): Promise<void> {
  await eventually(async () => expect(await readFleet(scene, database)).to.deep.equal([]), {
    deadlineMs: DEADLINE_MS,
    everyMs: 100,
  });
}
