import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { digestOfKey, generateApplicationKey } from '../../../src/domain/application-keys.ts';
import { DEFAULT_TENANT, tenantIdOf } from '../../../src/domain/declarations.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { eventually } from '../../support/eventually.ts';
import { openRequest } from '../../support/open-request.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { runProgram } from '../../support/program.ts';
import { apiArguments, startApiProgram, type ApiProgram } from '../../support/roles/api-program.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

const TENANT = tenantIdOf(DEFAULT_TENANT);
const DECLARED_TENANT = { name: 'shop', type: 'production', quotas: DEFAULT_QUOTAS, settings: DEFAULT_SETTINGS };

describe('tokenkeep api', function () {
  this.timeout(120_000);
  let transit: TestTransit;
  let vaultToken: string;
  let folder: string;
  let database: TestDatabase;
  let api: ApiProgram | undefined;

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    vaultToken = await transit.tokenFor('tokenkeep-api');
  });
  after(() => transit?.dispose());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-api-'));
    database = await createTestDatabase();
    await writeFile(join(folder, 'secret'), 'shared-secret-of-the-test\n');
  });
  afterEach(async () => {
    await api?.stop();
    api = undefined;
    await database.dispose();
    await rm(folder, { recursive: true });
  });

  const shared = (): string[] => ['--internal-auth', 'token', '--internal-token-file', join(folder, 'secret')];

  async function start(flags: readonly string[] = shared()): Promise<ApiProgram> {
    api = await startApiProgram({ database, transit, vaultToken, flags });
    return api;
  }

  const run = (flags: readonly string[], env: Record<string, string> = {}) =>
    runProgram(apiArguments({ database, transit, flags }), { VAULT_TOKEN: vaultToken, ...env });

  async function statusAndConnection(url: string, agent: Agent): Promise<string> {
    const [answer] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
    await answer.resume().toArray();
    return `${answer.statusCode} ${answer.headers.connection}`;
  }

  async function internal(path: string, body: object, token = 'shared-secret-of-the-test'): Promise<number> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method: 'PUT', headers, body: JSON.stringify(body) };
    return (await fetch(`${api!.internalUrl}/internal/${path}`, init)).status;
  }

  async function declareApplication(): Promise<string> {
    const key = generateApplicationKey('production', 'private');
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] };
    expect(await internal(`tenants/${TENANT}`, { ...DECLARED_TENANT, declared: false })).to.equal(200);
    const application = {
      ...{ name: 'Checkout', type: 'private', permissions: ['token:create'], rules: [rule] },
      keys: [{ id: randomUUID(), digest: digestOfKey(key) }],
    };
    expect(await internal(`tenants/${TENANT}/applications/${randomUUID()}`, application)).to.equal(200);
    return key;
  }

  it('serves what the control plane declares, from a URL in a file, and tells no password', async () => {
    const file = join(folder, 'database-url');
    await writeFile(file, `${database.apiConnectionString}\n`);
    const { baseUrl, metricsUrl } = await start([...shared(), '--database-url-file', file]);
    const headers = { 'svc-api-key': await declareApplication(), 'content-type': 'application/json' };
    const body = JSON.stringify({ type: 'token', data: 'canary of a token' });
    const created = await fetch(`${baseUrl}/tokens`, { method: 'POST', headers, body });
    expect(created.status).to.equal(201);
    const { id } = (await created.json()) as { id: string };
    const read = await fetch(`${baseUrl}/tokens/${id}`, { headers });
    expect(((await read.json()) as { data: string }).data).to.equal('canary of a token');
    expect(await (await fetch(metricsUrl)).text()).to.match(/^tokenkeep_vault_up 1$/m);

    const { code, stdout, stderr } = await api!.stop();
    api = undefined;
    expect(code).to.equal(0);
    const passwords = [database.apiConnectionString, database.sweeperConnectionString].map(
      (url) => new URL(url).password,
    );
    for (const secret of [...passwords, vaultToken, 'shared-secret']) expect(stdout + stderr).not.to.include(secret);
  });

  it('keeps the master keys in a keyring where it is told to, and finds them again', async () => {
    const keyring = [...shared(), '--keyring-dir', folder];
    const { baseUrl } = await start(keyring);
    const headers = { 'svc-api-key': await declareApplication(), 'content-type': 'application/json' };
    const body = JSON.stringify({ type: 'token', data: 'canary of a token' });
    const created = await fetch(`${baseUrl}/tokens`, { method: 'POST', headers, body });
    const { id } = (await created.json()) as { id: string };
    expect((await api!.stop()).code).to.equal(0);
    expect((await stat(join(folder, 'keyring.json'))).mode & 0o777).to.equal(0o600);

    const again = await start(keyring);
    const read = await fetch(`${again.baseUrl}/tokens/${id}`, { headers });
    expect(((await read.json()) as { data: string }).data).to.equal('canary of a token');
    expect((await api!.stop()).code).to.equal(0);
    api = undefined;
    // Its keys are not in Vault: with one, the vault would seem empty.
    const { code, stderr } = await run(shared());
    expect(code).to.equal(1);
    expect(stderr).to.include('data keys that a keyring has wrapped');
  });

  it('lets in who holds the secret that the file holds at that moment, and nobody where it is empty', async () => {
    await start();
    const put = (token?: string): Promise<number> => internal(`tenants/${randomUUID()}`, DECLARED_TENANT, token);
    expect([await put(), await put('another'), await put('')]).to.deep.equal([200, 401, 401]);
    await writeFile(join(folder, 'secret'), 'replaced');
    expect([await put(), await put('replaced')]).to.deep.equal([401, 200]);
    await writeFile(join(folder, 'secret'), '');
    expect([await put('replaced'), await put('')]).to.deep.equal([503, 401]);
  });

  it('answers what is in flight when it is asked to end, and exits 0', async () => {
    const { baseUrl } = await start();
    const body = { type: 'token', data: 'in flight' };
    const request = await openRequest(`${baseUrl}/tokens`, await declareApplication(), body);
    const stopping = api!.stop();
    expect(await request.finish()).to.equal(201);
    expect((await stopping).code).to.equal(0);
    api = undefined;
  });

  it('goes on serving for a while, not ready, and answers within the grace period what is in flight then', async () => {
    const { baseUrl } = await start([...shared(), '--drain-seconds', '1', '--grace-seconds', '2']);
    const key = await declareApplication();
    const answered = await openRequest(`${baseUrl}/tokens`, key, { type: 'token', data: 'in flight' });
    const left = await openRequest(`${baseUrl}/tokens`, key, { type: 'token', data: 'never sent whole' });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ready = (): Promise<string> => statusAndConnection(`${baseUrl}/readyz`, agent);
    expect(await ready()).to.equal('200 keep-alive');

    const begun = performance.now();
    const stopping = api!.stop();
    await eventually(async () => expect(await ready()).to.equal('503 close'));
    // On connections of their own from here on.
    const served = async (): Promise<void> => {
      for (;;) expect(await ready()).to.equal('503 close');
    };
    const refused = (await served().catch((error: unknown) => error)) as NodeJS.ErrnoException;
    // Or it closed while one was being opened.
    expect(refused.code).to.be.oneOf(['ECONNREFUSED', 'ECONNRESET']);
    expect(performance.now() - begun).to.be.at.least(1_000);
    expect(await answered.finish()).to.equal(201);
    const [{ code }, cut] = await Promise.all([stopping, left.closed]);
    expect([code, cut]).to.deep.equal([0, 'ECONNRESET']);
    // With the default of 5 s, it would have been 6 s.
    expect(performance.now() - begun).to.be.within(3_000, 5_500);
    agent.destroy();
    api = undefined;
  });

  it('refuses a database that is not migrated, and says what to run', async () => {
    await database.dispose();
    database = await createEmptyDatabase();
    const { code, stderr } = await run([...shared(), '--database-url', database.connectionString]);
    expect(code).to.equal(1);
    expect(stderr).to.include('tokenkeep migrate');
    const tables = await database.database.run({ text: "select 1 from pg_tables where schemaname = 'public'" });
    expect(tables).to.deep.equal([]);
  });

  it('refuses a database whose schema is newer than it can serve', async () => {
    await database.database.run({
      text: "insert into schema_migrations (number, name, checksum, breaking) values (9999, 'later', '', true)",
    });
    const { code, stderr } = await run(shared());
    expect(code).to.equal(1);
    expect(stderr).to.include('run a newer version');
  });

  it('refuses all that is wrong with its settings at once', async () => {
    const flags = ['--internal-host', '0.0.0.0', '--database-url-file', '/nowhere', '--metrics-host', 'a b'];
    const { code, stderr } = await run(flags, { TOKENKEEP_REDIS_URL: 'http://x', TOKENKEEP_VAULT_TIMEOUT: 'soon' });
    expect(code).to.equal(2);
    const named = ['control-plane-service-accounts', 'internal-tls-cert-file', 'database-url-file', 'metrics-host'];
    for (const name of [...named.map((flag) => `--${flag}`), '--redis-url', '--vault-timeout']) {
      expect(stderr).to.include(name);
    }
  });
});
