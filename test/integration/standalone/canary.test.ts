import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  CLEAR,
  plantInApplications,
  plantInKeptAnswers,
  plantInRefusals,
  type Planter,
  plantTokens,
  readTokens,
} from '../../support/canary-planting.ts';
import { createCanaryScanner, randomSecret, type Sighting } from '../../support/canary.ts';
import { plantedCanary } from '../../support/run-canaries.ts';
import { createStandaloneFolder, UNLIMITED_TENANT, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

const DECLARED_APPLICATIONS = [
  {
    kind: 'Application',
    name: 'payments',
    spec: {
      type: 'private',
      permissions: ['token:create', 'token:update', 'token:delete', 'token:use'],
      rules: [{ description: 'All', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
    },
  },
  {
    kind: 'Application',
    name: 'admin',
    spec: {
      type: 'management',
      permissions: ['application', 'reactor']
        .flatMap((resource) => ['create', 'read', 'update', 'delete'].map((operation) => `${resource}:${operation}`))
        .concat('log:read'),
    },
  },
];

describe('canaries planted through every endpoint', function () {
  this.timeout(120_000);

  const secrets: Record<string, string> = {};
  const sightings: Sighting[] = [];
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let payments: string;
  let admin: string;
  let printed = '';

  const planter: Planter = {
    plant: (name, value = randomSecret()) => (secrets[name] = plantedCanary(name, value)),
    async ask(status, method, path, options) {
      const answer = await vault.request(method, path, { key: payments, ...options });
      expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(status);
      return answer;
    },
    send: async (...request) => (await planter.ask(...request)).body,
    adminKey: () => admin,
  };
  const { plant, send } = planter;

  async function start(): Promise<void> {
    vault = await startStandalone({ ...folder, flags: ['--log-level', 'debug', '--ip-rate-limits', 'off'] });
    payments = await vault.keyOf('payments');
    admin = await vault.keyOf('admin');
  }

  before(async () => {
    folder = await createStandaloneFolder();
    await folder.write('applications.yaml', [UNLIMITED_TENANT, ...DECLARED_APPLICATIONS]);
    await folder.write('reactors.yaml', [
      {
        kind: 'Reactor',
        name: 'declared',
        spec: {
          code: `module.exports = async () => ({ raw: '${plant('code of a declared reactor')}' });`,
          configuration: { SECRET: plant('configuration of a declared reactor') },
        },
      },
    ]);
    await start();
  });
  after(async () => {
    await vault.kill();
    await folder.dispose();
  });

  async function plantUntilKilled(): Promise<void> {
    const writing = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; ; round += 1) {
        const data = plant(`under load ${writer}.${round}`);
        const body = { type: 'token', data, fingerprint_expression: '{{ data }}', search_indexes: ['{{ data }}'] };
        await send(201, 'POST', '/tokens', { body });
      }
    });
    await Promise.race([...writing, readTokens(planter)]);
    await vault.kill();
    const ends = await Promise.allSettled(writing);
    expect(ends.every(({ status }) => status === 'rejected')).to.equal(true);
  }

  async function look(moment: string, scanner = createCanaryScanner(secrets)): Promise<void> {
    const found = await scanner.scanFolder(folder.dataDir);
    sightings.push(...found.sightings.map((sighting) => ({ ...sighting, place: `${sighting.place} (${moment})` })));
    sightings.push(...scanner.scan(`standard output and error (${moment})`, printed));
  }

  it('turn up neither on disk nor in any output, also after a kill', async () => {
    await plantTokens(planter);
    await readTokens(planter);
    await plantInRefusals(planter);
    await plantInApplications(planter);
    await plantInKeptAnswers(planter);
    await send(200, 'GET', '/logs?size=100', { key: admin });
    const scanner = createCanaryScanner(secrets);
    sightings.push(...scanner.scan('metrics', await (await fetch(vault.metricsUrl)).text()));
    for (const path of ['/openapi.json', '/docs', '/readyz', '/logs?size=100']) {
      sightings.push(...scanner.scan(path, JSON.stringify(await send(200, 'GET', path, { key: admin }))));
    }
    await plantUntilKilled();
    const killed = vault.output();
    printed += killed.stdout + killed.stderr;
    await look('after the kill');

    await start();
    await readTokens(planter);
    const { code, stdout, stderr } = await vault.stop();
    expect(code).to.equal(0);
    printed += stdout + stderr;
    await look('after a stop');
    expect(sightings).to.deep.equal([]);
  });

  it('are looked for in the bytes that hold what is stored in the clear', async () => {
    const clear = createCanaryScanner(CLEAR);
    const { sightings: seen, bytes } = await clear.scanFolder(folder.dataDir);
    const places = (canary: string) => seen.filter((sighting) => sighting.canary === canary).map(({ place }) => place);
    expect(bytes).to.be.above(2 ** 24);
    for (const canary of ['metadata', 'id']) {
      expect(
        places(canary).some((place) => place.startsWith('postgres/base/')),
        `${canary} in a table`,
      ).to.equal(true);
      expect(
        places(canary).some((place) => place.startsWith('postgres/pg_wal/')),
        `${canary} in the WAL`,
      ).to.equal(true);
    }
    expect(printed).to.include('"reason":"KeyCreated"');
  });

  it('stay in the Secret where they belong, and keys in the keyring', async () => {
    const keyring = await readFile(join(folder.dataDir, 'keyring.json'), 'utf8');
    const { masters } = JSON.parse(keyring) as { masters: Record<string, { key: string }[]> };
    const scanner = createCanaryScanner({
      'a declared key': payments,
      'another declared key': admin,
      'the password of Postgres': await readFile(join(folder.dataDir, 'postgres-password'), 'utf8'),
      ...Object.fromEntries(Object.entries(masters).map(([name, [first]]) => [`master key ${name}`, first!.key])),
    });
    const { sightings: seen } = await scanner.scanFolder(folder.dataDir);
    const places = seen.map(({ canary, place }) => `${canary}: ${place}`).sort();
    expect(places).to.deep.equal([
      'a declared key: secrets/default/payments-api-key/api-key',
      'another declared key: secrets/default/admin-api-key/api-key',
      'master key cvc: keyring.json',
      'master key tokens: keyring.json',
      'the password of Postgres: postgres-password',
    ]);
    expect(scanner.scan('output', printed)).to.deep.equal([]);
  });
});
