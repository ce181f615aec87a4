import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createStandaloneFolder, type StandaloneFolder } from '../../support/standalone-folder.ts';
import {
  runStandalone,
  startStandalone,
  type Ended,
  type ProgramOptions,
  type StandaloneProgram,
} from '../../support/standalone.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

const OWNER = {
  kind: 'Application',
  name: 'owner',
  spec: {
    type: 'private',
    permissions: ['token:create'],
    rules: [{ description: 'All', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
  },
};

describe('standalone with Vault', function () {
  this.timeout(120_000);
  let transit: TestTransit;
  let token: string;
  let folder: StandaloneFolder;
  let test: TestDatabase;
  let running: StandaloneProgram | undefined;

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    token = await transit.tokenFor('tokenkeep-api');
  });
  after(() => transit?.dispose());
  beforeEach(async () => {
    folder = await createStandaloneFolder();
    test = await createEmptyDatabase();
    await folder.write('owner.yaml', [OWNER]);
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await test.dispose();
    await folder.dispose();
  });

  const options = (flags: readonly string[], env: Record<string, string> = {}): ProgramOptions => ({
    ...folder,
    flags: ['--database-url', test.connectionString, ...flags],
    env,
  });

  async function start(flags: readonly string[], env?: Record<string, string>): Promise<StandaloneProgram> {
    running = await startStandalone(options(flags, env));
    return running;
  }

  async function stop(): Promise<Ended> {
    const ended = await running!.stop();
    running = undefined;
    return ended;
  }

  async function createToken(program: StandaloneProgram): Promise<string> {
    const body = { type: 'token', data: 'canary of a token' };
    const { status, body: created } = await program.request('POST', '/tokens', {
      key: await program.keyOf('owner'),
      body,
    });
    expect(status, JSON.stringify(created)).to.equal(201);
    return created.id as string;
  }

  it('needs the policy of the API alone, makes no keyring, and reads after a restart what it sealed', async () => {
    const program = await start(transit.flags, { VAULT_TOKEN: token });
    const id = await createToken(program);
    expect((await program.request('GET', '/readyz')).status).to.equal(200);
    const metrics = await (await fetch(program.metricsUrl)).text();
    expect(metrics).to.match(/^tokenkeep_vault_up 1$|^vault_up 1$/m);
    const { code, stdout, stderr } = await stop();
    expect(code).to.equal(0);
    expect(stdout + stderr).not.to.include(token);
    expect(await readdir(folder.dataDir)).not.to.include('keyring.json');
    const [row] = await test.database.run<{ kinds: string }>(
      { text: `select string_agg(distinct split_part(wrapped, ':', 1), ',') as kinds from data_keys` },
      [],
    );
    expect(row!.kinds).to.equal('vault');

    const tokenFile = join(folder.root, 'vault-token');
    await writeFile(tokenFile, token);
    const ca = ['--vault-addr', transit.server.tlsAddress, '--vault-ca-file', transit.server.caFile];
    const again = await start([...ca, '--vault-namespace', transit.namespace, '--vault-token-file', tokenFile]);
    const { status, body } = await again.request('GET', `/tokens/${id}`, { key: await again.keyOf('owner') });
    expect(status).to.equal(200);
    expect(body.data).to.equal('canary of a token');
  });

  it('logs in by AppRole', async () => {
    await transit.demand({ method: 'POST', path: 'sys/auth/approle', body: { type: 'approle' } });
    const role = { token_policies: ['tokenkeep-api'], token_ttl: '1h' };
    await transit.demand({ method: 'POST', path: 'auth/approle/role/api', body: role });
    const { role_id: roleId } = await transit.demand({ path: 'auth/approle/role/api/role-id' });
    const { secret_id: secretId } = await transit.demand({ method: 'POST', path: 'auth/approle/role/api/secret-id' });
    const secretIdFile = join(folder.root, 'secret-id');
    await writeFile(secretIdFile, secretId as string);
    const flags = ['--vault-auth', 'approle', '--vault-role-id', roleId as string];
    await createToken(await start([...transit.flags, ...flags, '--vault-secret-id-file', secretIdFile]));
  });

  it('refuses a database whose data keys a keyring has wrapped, and says which command moves them', async () => {
    await createToken(await start([]));
    await stop();
    const { code, stderr } = await runStandalone(options(transit.flags, { VAULT_TOKEN: token }));
    expect(code).to.equal(1);
    expect(stderr).to.include('tokenkeep keys import');
    expect(await readFile(join(folder.dataDir, 'keyring.json'), 'utf8')).to.include('masters');
  });

  it('refuses a database whose data keys Vault has wrapped where it is given no Vault', async () => {
    await createToken(await start(transit.flags, { VAULT_TOKEN: token }));
    await stop();
    const { code, stderr } = await runStandalone(options([]));
    expect(code).to.equal(1);
    expect(stderr).to.include('--vault-addr');
    expect(await readdir(folder.dataDir)).not.to.include('keyring.json');
  });

  it('refuses a token that is not valid, and does not show it', async () => {
    const { code, stdout, stderr } = await runStandalone(options(transit.flags, { VAULT_TOKEN: 's.canary-token' }));
    expect(code).to.equal(1);
    expect(stderr).to.include('VAULT_TOKEN');
    expect(stdout + stderr).not.to.include('canary-token');
  });
});
