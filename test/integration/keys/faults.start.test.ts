import { expect } from 'chai';
import type { VaultConfig } from '../../../src/config/vault-settings.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { openKeyManagement } from '../../../src/roles/key-management.ts';
import { eventually } from '../../support/eventually.ts';
import { expectUnavailable } from '../../support/faults/scenario.ts';
import { freePort } from '../../support/free-port.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rejection } from '../../support/rejection.ts';
import { createStandaloneFolder } from '../../support/standalone-folder.ts';
import { SAMPLES, startStandalone, type StandaloneProgram } from '../../support/standalone.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const PATIENCE = { deadlineMs: 60_000, everyMs: 50 };

describe('a vault that starts', function () {
  this.timeout(240_000);
  let transit: TestTransit | undefined;
  let database: TestDatabase;
  let vault: TestVault | undefined;

  function open(overrides: Partial<VaultConfig>): Promise<KeyManagement> {
    const { server, namespace } = transit!;
    const config: VaultConfig & { dataDir: string } = {
      ...{ vaultAddr: server.address, vaultNamespace: namespace, vaultAuth: 'token', vaultTimeout: 1_000 },
      ...{ transitMount: 'transit', transitKey: 'tokenkeep', vaultAllowHttp: false, dataDir: '/nowhere' },
      ...{ vaultTokenFile: undefined, vaultRoleId: undefined, vaultSecretIdFile: undefined, vaultAuthMount: undefined },
      ...{
        vaultKubernetesRole: undefined,
        vaultKubernetesTokenFile: '',
        vaultCaFile: undefined,
        vaultToken: undefined,
      },
      ...overrides,
    };
    const metrics = createMetrics();
    return openKeyManagement(config, { database: database.maintenance, logger: silentLogger, metrics });
  }

  async function expectNotReady(): Promise<void> {
    const { status, body } = await eventually(async () => {
      const answer = await vault!.request('GET', '/readyz');
      expect(answer.status).to.equal(503);
      return answer;
    }, PATIENCE);
    expect([status, body]).to.deep.equal([503, { status: 'not ready', failures: ['key-management'], degraded: [] }]);
    expect((await vault!.request('GET', '/healthz')).status).to.equal(200);
  }

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await vault?.stop();
    vault = undefined;
  });
  after(async () => {
    await database?.dispose();
    await transit?.dispose();
  });

  it('refuses to, and says what is to be done, where there is no transit key and none may be made', async () => {
    const error = await rejection(open({ vaultToken: await transit!.tokenFor('tokenkeep-api') }));
    expect(error.message).to.include('Vault has no transit key tokenkeep, and none may be made with this token');
    expect(error.message).to.include('vault write -f transit/keys/tokenkeep');
  });

  it('refuses to where its token is refused', async () => {
    const error = await rejection(open({ vaultToken: 's.not-a-token' }));
    expect(error.message).to.include('the token of VAULT_TOKEN is not, or no longer, valid');
    expect(error.message).not.to.include('s.not-a-token');
  });

  it('refuses to where the transit key is not fit for use', async () => {
    const body = { type: 'aes256-gcm96', derived: false };
    await transit!.demand({ method: 'POST', path: 'transit/keys/other', body });
    const error = await rejection(open({ vaultToken: transit!.server.rootToken, transitKey: 'other' }));
    expect(error.message).to.include('the transit key other is not fit for use: derived must be true');
  });

  it('while the transit server is sealed is not ready, and is once that is unsealed', async () => {
    await transit!.makeKeys();
    const vaultToken = await transit!.tokenFor('tokenkeep-api');
    await transit!.server.seal();
    let key: string;
    const create = () => vault!.request('POST', '/tokens', { key, body: { type: 'token', data: 'first' } });
    try {
      vault = await startTestVault({ keyManagement: await open({ vaultToken }) });
      await expectNotReady();
      ({ key } = await vault.application());
      expectUnavailable(await create());
    } finally {
      await transit!.server.unseal();
    }
    await eventually(async () => expect((await vault!.request('GET', '/readyz')).status).to.equal(200), PATIENCE);
    expect((await create()).status).to.equal(201);
  });

  it('where the name of the transit server does not resolve is not ready, and stays alive', async () => {
    const keyManagement = await open({ vaultAddr: 'http://vault.invalid:8200', vaultToken: 'any' });
    vault = await startTestVault({ keyManagement });
    await expectNotReady();
  });

  it('as the real program reconciles its manifests once the transit server is unsealed', async () => {
    await transit!.makeKeys();
    const [folder, port] = [await createStandaloneFolder(SAMPLES), await freePort()];
    const env = { VAULT_TOKEN: await transit!.tokenFor('tokenkeep-api') };
    let starting: Promise<StandaloneProgram> | undefined;
    await transit!.server.seal();
    try {
      starting = startStandalone({ ...folder, port: String(port), flags: [...transit!.flags], env });
      // Awaited only once it can succeed.
      starting.catch(() => undefined);
      await eventually(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/readyz`);
        expect(response.status).to.equal(503);
        expect(((await response.json()) as { failures: string[] }).failures).to.include('key-management');
      }, PATIENCE);
    } finally {
      await transit!.server.unseal();
    }
    const program = await starting;
    try {
      expect((await program.request('GET', '/readyz')).status).to.equal(200);
      const { stderr } = program.output();
      expect(stderr.match(/Key management cannot be used/g)).to.have.length(1);
      expect(stderr.match(/Key management can be used again/g)).to.have.length(1);
      expect(stderr).not.to.include(env.VAULT_TOKEN);
    } finally {
      await program.stop();
      await folder.dispose();
    }
  });
});
