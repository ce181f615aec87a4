import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiConfig } from '../../../src/config/api.ts';
import { readCommand } from '../../../src/config/command.ts';

type Environment = Record<string, string>;

const DATABASE = 'postgres://api:secret@db/vault';
const NEEDED = {
  TOKENKEEP_DATABASE_URL: DATABASE,
  TOKENKEEP_INTERNAL_PORT: '8443',
  TOKENKEEP_CONTROL_PLANE_SERVICE_ACCOUNTS: 'tokenkeep-system/tokenkeep-operator',
  TOKENKEEP_VAULT_ADDR: 'https://vault.example:8200',
  VAULT_TOKEN: 'token-of-vault',
};

function configOf(flags: string[], environment: Environment = NEEDED): ApiConfig {
  const command = readCommand(['api', ...flags], environment);
  if (command.action !== 'run' || command.role !== 'api') throw new Error(JSON.stringify(command));
  return command.config;
}

function faultsOf(flags: string[], environment: Environment = NEEDED): readonly string[] {
  const command = readCommand(['api', ...flags], environment);
  if (command.action !== 'refuse') throw new Error(`accepted: ${JSON.stringify(command)}`);
  return command.faults;
}

describe('settings of the API', () => {
  let folder: string;
  const fileOf = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tokenkeep-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are few where nothing is particular', () => {
    expect(configOf([])).to.deep.include({
      ...{ host: '127.0.0.1', port: 8080, metricsPort: 9090, metricsHost: undefined },
      ...{ internalHost: '127.0.0.1', internalPort: 8443, internalAuth: 'kubernetes', kubeconfig: undefined },
      controlPlaneServiceAccounts: [{ namespace: 'tokenkeep-system', name: 'tokenkeep-operator' }],
      ...{ databaseUrl: DATABASE, maintenanceDatabaseUrl: undefined, vaultAddr: 'https://vault.example:8200' },
    });
  });

  it('say all that is missing at once, by the names of their flags', () => {
    const flags = ['database-url', 'internal-port', 'vault-addr', 'control-plane-service-accounts'];
    expect(faultsOf([], {}).map((fault) => /^--([\w-]+) /.exec(fault)?.[1])).to.have.members(flags);
  });

  it('take what may hold a password from a file, without the line break at its end', () => {
    const file = fileOf('url', `${DATABASE}\n`);
    const { TOKENKEEP_DATABASE_URL: _left, ...environment } = NEEDED;
    expect(configOf(['--database-url-file', file], environment).databaseUrl).to.equal(DATABASE);
    expect(configOf([], { ...environment, TOKENKEEP_DATABASE_URL_FILE: file }).databaseUrl).to.equal(DATABASE);
    expect(configOf(['--database-url-file', file]).databaseUrl).to.equal(DATABASE);
    const redis = ['--redis-url-file', fileOf('redis', 'redis://:p@h:6379')];
    expect(configOf(redis).redisUrl).to.equal('redis://:p@h:6379');
  });

  it('refuse such a file that is missing, or holds something else, without quoting it', () => {
    expect(faultsOf(['--database-url-file', join(folder, 'none')])).to.deep.equal([
      '--database-url-file (TOKENKEEP_DATABASE_URL_FILE): cannot be read (ENOENT)',
    ]);
    const [fault] = faultsOf(['--database-url-file', fileOf('url', 'mysql://user:secret@h/d')]);
    expect(fault)
      .to.match(/^--database-url-file .*: must begin with postgres/)
      .and.not.include('secret');
  });

  it('refuse a text beside the file that is to hold it', () => {
    const both = ['--database-url', DATABASE, '--database-url-file', fileOf('url', DATABASE)];
    expect(faultsOf(both)).to.deep.equal([
      '--database-url (TOKENKEEP_DATABASE_URL): cannot be given together with --database-url-file',
    ]);
  });

  it('take the folder of what the API and the pods of reactors know each other by, whole alone', () => {
    const files = ['tls.crt', 'tls.key', 'ca.crt', 'svc.crt', 'svc.key'];
    for (const name of files.slice(0, 3)) fileOf(name, 'pem');
    expect(faultsOf(['--reactor-tls-dir', folder])).to.have.lengthOf(1);
    expect(faultsOf(['--reactor-tls-dir', folder])[0]).to.match(/lacks svc\.crt, svc\.key$/);
    for (const name of files.slice(3)) fileOf(name, 'pem');
    expect(configOf(['--reactor-tls-dir', folder])).to.include({ reactorTlsDir: folder, svcPort: 8444 });
    const named = ['--reactor-tls-dir', folder, '--svc-url', 'https://10.1.2.3:8444'];
    expect(configOf(named).svcUrl).to.equal('https://10.1.2.3:8444');
    // Keys and plaintext would cross the network in clear, or nobody would call there.
    expect(faultsOf(['--reactor-tls-dir', folder, '--svc-url', 'http://10.1.2.3:8080'])[0]).to.match(/must be https$/);
    expect(faultsOf(['--svc-url', 'https://10.1.2.3:8444'])[0]).to.match(/needs --reactor-tls-dir$/);
    expect(faultsOf(['--reactor-tls-dir', folder, '--svc-port', '8080'])[0]).to.match(/must differ from --port/);
  });

  it('take several ServiceAccounts', () => {
    const { controlPlaneServiceAccounts } = configOf(['--control-plane-service-accounts', 'a/b, c-1/d.e']);
    expect(controlPlaneServiceAccounts).to.deep.equal([
      { namespace: 'a', name: 'b' },
      { namespace: 'c-1', name: 'd.e' },
    ]);
  });

  for (const text of ['operator', 'a/b/c', 'A/b', 'a/', '', 'a/b,']) {
    it(`refuse "${text}" as ServiceAccounts`, () => {
      const [fault] = faultsOf([`--control-plane-service-accounts=${text}`]);
      expect(fault).to.match(/^--control-plane-service-accounts .*: must be comma-separated namespaces and names/);
    });
  }

  it('need the secret with --internal-auth token, and nothing of Kubernetes then', () => {
    const { TOKENKEEP_CONTROL_PLANE_SERVICE_ACCOUNTS: accounts, ...environment } = NEEDED;
    const secret = ['--internal-token-file', fileOf('secret', 'x')];
    expect(configOf(['--internal-auth', 'token', ...secret], environment).internalAuth).to.equal('token');
    expect(faultsOf(['--internal-auth', 'token'], environment)).to.deep.equal([
      '--internal-token-file (TOKENKEEP_INTERNAL_TOKEN_FILE): must be given with --internal-auth token',
    ]);
    const needless = ['--internal-auth', 'token', ...secret, '--control-plane-service-accounts', accounts];
    expect(faultsOf(needless, environment)[0]).to.include('needs --internal-auth kubernetes');
    expect(faultsOf(secret)[0]).to.include('needs --internal-auth token');
  });

  it('need TLS, or leave to go without, where the internal API can be reached from elsewhere', () => {
    const [cert, key] = [fileOf('tls.crt', ''), fileOf('tls.key', '')];
    const elsewhere = ['--internal-host', '0.0.0.0'];
    expect(faultsOf(elsewhere)[0]).to.include('--internal-tls-cert-file').and.include('--internal-allow-http');
    expect(configOf([...elsewhere, '--internal-allow-http']).internalAllowHttp).to.equal(true);
    const certificate = ['--internal-tls-cert-file', cert];
    expect(configOf([...elsewhere, ...certificate, '--internal-tls-key-file', key])).to.deep.include({
      ...{ internalTlsCertFile: cert, internalTlsKeyFile: key },
    });
    expect(faultsOf([...elsewhere, ...certificate])[0]).to.match(/^--internal-tls-key-file .*must be given/);
    expect(faultsOf(['--internal-tls-key-file', key])[0]).to.match(/^--internal-tls-cert-file .*must be given/);
  });

  it('take how long it serves after SIGTERM, and what is in flight after that', () => {
    expect(configOf([])).to.include({ drainSeconds: 0, graceSeconds: 5 });
    expect(configOf(['--drain-seconds', '8', '--grace-seconds', '60'])).to.include({
      ...{ drainSeconds: 8, graceSeconds: 60 },
    });
    expect(configOf(['--drain-seconds', '120', '--grace-seconds', '120'])).to.include({ drainSeconds: 120 });
    for (const text of ['121', '-1', '1.5', '5s', '']) {
      expect(faultsOf([`--drain-seconds=${text}`])).to.deep.equal([
        '--drain-seconds (TOKENKEEP_DRAIN_SECONDS): must be a whole number of seconds from 0 to 120',
      ]);
    }
    // Nothing would be answered that has been begun.
    for (const text of ['0', '121']) {
      expect(faultsOf(['--grace-seconds', text])).to.deep.equal([
        '--grace-seconds (TOKENKEEP_GRACE_SECONDS): must be a whole number of seconds from 1 to 120',
      ]);
    }
  });

  it('refuse one port for two', () => {
    expect(faultsOf(['--metrics-port', '8443'])[0]).to.match(/^--metrics-port .*must differ from --internal-port/);
  });

  it('take a folder for the master keys in place of Vault, and nothing of Vault beside it', () => {
    const { TOKENKEEP_VAULT_ADDR: address, VAULT_TOKEN: _left, ...environment } = NEEDED;
    const keyring = ['--keyring-dir', folder];
    expect(configOf(keyring, environment)).to.include({ keyringDir: folder, vaultAddr: undefined });
    expect(faultsOf([], environment)).to.deep.equal(['--vault-addr (TOKENKEEP_VAULT_ADDR): must be given']);
    expect(faultsOf([...keyring, '--vault-addr', address], environment)).to.deep.equal([
      '--keyring-dir (TOKENKEEP_KEYRING_DIR): cannot be given together with --vault-addr',
    ]);
    expect(faultsOf([...keyring, '--transit-key', 'cards'], environment)[0]).to.include('needs --vault-addr');
    expect(faultsOf(['--vault-addr', 'vault:8200'], environment)).to.have.lengthOf(1);
    // Made where it is missing, it might be anywhere: keys that nobody finds again.
    expect(faultsOf(['--keyring-dir', join(folder, 'none')], environment)[0]).to.match(/must be a folder/);
  });

  it('refuse the settings of Vault that do not go together', () => {
    const { VAULT_TOKEN: _left, ...environment } = NEEDED;
    expect(faultsOf([], environment)[0]).to.include('--vault-token-file');
  });
});
