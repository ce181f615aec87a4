import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCommand } from '../../../src/config/command.ts';
import type { VaultConfig } from '../../../src/config/vault-settings.ts';

type Environment = Record<string, string>;

const ADDRESS = 'https://vault.example:8200';
const TOKEN = 's.canary-of-a-token';

function configOf(flags: string[], environment: Environment = { VAULT_TOKEN: TOKEN }): VaultConfig {
  const command = readCommand(['standalone', '--vault-addr', ADDRESS, ...flags], environment);
  if (command.action !== 'run' || command.role !== 'standalone') throw new Error(JSON.stringify(command));
  return command.config;
}

function faultsOf(flags: string[], environment: Environment = {}, role = ['standalone']): readonly string[] {
  const command = readCommand([...role, ...flags], environment);
  if (command.action !== 'refuse') throw new Error(`accepted: ${flags.join(' ')}`);
  return command.faults;
}

describe('settings of Vault', () => {
  let folder: string;
  let file: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tokenkeep-config-'));
    file = join(folder, 'file');
    writeFileSync(file, '');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('are taken by flag or by variable', () => {
    const given: [string, string, Partial<VaultConfig>][] = [
      ['vault-token-file', file, { vaultTokenFile: file }],
      ['vault-role-id', 'role-1', { vaultRoleId: 'role-1' }],
      ['vault-secret-id-file', file, { vaultSecretIdFile: file }],
      ['vault-kubernetes-role', 'tokenkeep', { vaultKubernetesRole: 'tokenkeep' }],
      ['vault-kubernetes-token-file', file, { vaultKubernetesTokenFile: file }],
      ['vault-auth-mount', 'clusters/one', { vaultAuthMount: 'clusters/one' }],
      ['vault-namespace', 'team/vault/', { vaultNamespace: 'team/vault' }],
      ['vault-ca-file', file, { vaultCaFile: file }],
      ['vault-timeout', '10s', { vaultTimeout: 10_000 }],
      ['transit-mount', 'team/transit', { transitMount: 'team/transit' }],
      ['transit-key', 'cards', { transitKey: 'cards' }],
    ];
    for (const [flag, value, expected] of given) {
      expect(configOf([`--${flag}`, value]), flag).to.deep.include(expected);
      const variable = `TOKENKEEP_${flag.toUpperCase().replaceAll('-', '_')}`;
      expect(configOf([], { VAULT_TOKEN: TOKEN, [variable]: value }), variable).to.deep.include(expected);
    }
  });

  it('keep the origin of the address alone', () => {
    expect(configOf([]).vaultAddr).to.equal(ADDRESS);
    const command = readCommand(['standalone', '--vault-addr', `${ADDRESS}/`], { VAULT_TOKEN: TOKEN });
    expect(command).to.have.nested.property('config.vaultAddr', ADDRESS);
  });

  it('take a token from VAULT_TOKEN, and from nowhere else in plain text', () => {
    expect(configOf([]).vaultToken).to.equal(TOKEN);
    expect(faultsOf(['--vault-addr', ADDRESS, '--vault-token', TOKEN])).to.satisfy((faults: string[]) =>
      faults.every((fault) => !fault.includes(TOKEN)),
    );
    const variable = { VAULT_TOKEN: TOKEN, TOKENKEEP_VAULT_TOKEN: TOKEN };
    expect(faultsOf(['--vault-addr', ADDRESS], variable)[0]).to.include('TOKENKEEP_VAULT_TOKEN: unknown');
  });

  it('take nothing else from the variables that other clients of Vault read', () => {
    const others = {
      VAULT_TOKEN: TOKEN,
      VAULT_ADDR: 'https://other.example',
      VAULT_NAMESPACE: 'other',
      VAULT_SKIP_VERIFY: 'true',
    };
    expect(configOf([], others)).to.deep.include({ vaultAddr: ADDRESS, vaultNamespace: undefined });
    const command = readCommand(['standalone'], others);
    expect(command).to.have.nested.property('config.vaultAddr', undefined);
  });

  it('list the token by its variable alone for --help', () => {
    const command = readCommand(['standalone', '--help'], {});
    if (command.action !== 'print') throw new Error('prints no help');
    expect(command.text).to.match(/^ {2}VAULT_TOKEN {2,}a token/m);
    expect(command.text).not.to.match(/--vault-token /);
  });

  it('let http reach this machine, and others where that is allowed', () => {
    const environment = { VAULT_TOKEN: TOKEN };
    for (const [address, ...flags] of [
      ['http://127.0.0.1:8200'],
      ['http://localhost:8200'],
      ['http://[::1]:8200'],
      ['http://vault.example', '--vault-allow-http'],
    ]) {
      const command = readCommand(['standalone', '--vault-addr', address!, ...flags], environment);
      expect(command.action, address).to.equal('run');
    }
  });

  it('are enough for each way to log in', () => {
    expect(configOf(['--vault-token-file', file], {}).vaultAuth).to.equal('token');
    configOf(['--vault-auth', 'approle', '--vault-role-id', 'r', '--vault-secret-id-file', file], {});
    configOf(['--vault-auth', 'kubernetes', '--vault-kubernetes-role', 'r'], {});
  });

  const refused: [string[], Environment, string][] = [
    [['--vault-addr', ADDRESS], {}, '--vault-token-file (TOKENKEEP_VAULT_TOKEN_FILE): must be given, or VAULT_TOKEN'],
    [['--vault-addr', 'vault.example:8200'], {}, '--vault-addr (TOKENKEEP_VAULT_ADDR): must be a URL'],
    [['--vault-addr', `${ADDRESS}/v1`], {}, '--vault-addr (TOKENKEEP_VAULT_ADDR): must be a scheme, a host and a port'],
    [['--vault-addr', 'https://u:p@v'], {}, '--vault-addr (TOKENKEEP_VAULT_ADDR): must be a scheme, a host and a port'],
    [
      ['--vault-addr', 'http://vault.example'],
      { VAULT_TOKEN: TOKEN },
      '--vault-addr (TOKENKEEP_VAULT_ADDR): must be https',
    ],
    [
      ['--vault-addr', 'http://127.0.0.1.example.com'],
      { VAULT_TOKEN: TOKEN },
      '--vault-addr (TOKENKEEP_VAULT_ADDR): must be https',
    ],
    [['--vault-addr', ADDRESS], { VAULT_TOKEN: 'two words' }, 'VAULT_TOKEN: must be a token of Vault'],
    [
      ['--vault-auth', 'userpass'],
      {},
      '--vault-auth (TOKENKEEP_VAULT_AUTH): must be one of token, approle, kubernetes',
    ],
    [['--vault-role-id', 'r'], {}, '--vault-role-id (TOKENKEEP_VAULT_ROLE_ID): needs --vault-addr'],
    [[], { TOKENKEEP_VAULT_AUTH: 'kubernetes' }, '--vault-auth (TOKENKEEP_VAULT_AUTH): needs --vault-addr'],
    [['--vault-namespace', 'team'], {}, '--vault-namespace (TOKENKEEP_VAULT_NAMESPACE): needs --vault-addr'],
    [['--vault-auth-mount', 'one'], {}, '--vault-auth-mount (TOKENKEEP_VAULT_AUTH_MOUNT): needs --vault-addr'],
    [['--vault-timeout', '9s'], {}, '--vault-timeout (TOKENKEEP_VAULT_TIMEOUT): needs --vault-addr'],
    [['--vault-allow-http'], {}, '--vault-allow-http (TOKENKEEP_VAULT_ALLOW_HTTP): needs --vault-addr'],
    [['--transit-mount', 'team/transit'], {}, '--transit-mount (TOKENKEEP_TRANSIT_MOUNT): needs --vault-addr'],
    [['--transit-key', 'cards'], {}, '--transit-key (TOKENKEEP_TRANSIT_KEY): needs --vault-addr'],
    [['--vault-ca-file', '/nowhere'], {}, '--vault-ca-file (TOKENKEEP_VAULT_CA_FILE): must be a file'],
    [['--vault-timeout', '2'], {}, '--vault-timeout (TOKENKEEP_VAULT_TIMEOUT): must be a duration'],
    [['--transit-mount', '../sys'], {}, '--transit-mount (TOKENKEEP_TRANSIT_MOUNT): must be a path'],
    [['--transit-key', 'a/b'], {}, '--transit-key (TOKENKEEP_TRANSIT_KEY): must be a name'],
    [
      ['--vault-addr', ADDRESS, '--vault-auth', 'kubernetes'],
      {},
      '--vault-kubernetes-role (TOKENKEEP_VAULT_KUBERNETES_ROLE): must be given with --vault-auth kubernetes',
    ],
  ];
  for (const [flags, environment, fault] of refused) {
    it(`refuse ${[...flags, ...Object.keys(environment)].join(' ')}`, () => {
      const faults = faultsOf(flags, environment);
      expect(faults[0]).to.include(fault);
      for (const value of Object.values(environment)) expect(faults.join()).not.to.include(value);
    });
  }

  it('refuse all that an AppRole lacks at once', () => {
    expect(faultsOf(['--vault-addr', ADDRESS, '--vault-auth', 'approle'])).to.deep.equal([
      '--vault-role-id (TOKENKEEP_VAULT_ROLE_ID): must be given with --vault-auth approle',
      '--vault-secret-id-file (TOKENKEEP_VAULT_SECRET_ID_FILE): must be given with --vault-auth approle',
    ]);
  });

  for (const role of ['keys status', 'keys rotate', 'keys rewrap', 'keys import', 'audit verify']) {
    it(`are checked for \`${role}\` too`, () => {
      const faults = faultsOf(['--vault-addr', 'http://vault.example'], { VAULT_TOKEN: TOKEN }, role.split(' '));
      expect(faults[0]).to.include('must be https');
    });
  }
});
