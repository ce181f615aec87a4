import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { readCommand } from '../../../src/config/command.ts';
import type { StandaloneConfig } from '../../../src/config/standalone.ts';
import type { VaultConfig } from '../../../src/config/vault-settings.ts';

type Environment = Record<string, string>;

const VAULT_DEFAULTS: VaultConfig = {
  vaultAddr: undefined,
  vaultAuth: 'token',
  vaultToken: undefined,
  vaultTokenFile: undefined,
  vaultRoleId: undefined,
  vaultSecretIdFile: undefined,
  vaultKubernetesRole: undefined,
  vaultKubernetesTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  vaultAuthMount: undefined,
  vaultNamespace: undefined,
  vaultCaFile: undefined,
  vaultTimeout: 2_000,
  vaultAllowHttp: false,
  transitMount: 'transit',
  transitKey: 'tokenkeep',
};

function configOf(flags: string[], environment: Environment = {}): StandaloneConfig {
  const command = readCommand(['standalone', ...flags], environment);
  if (command.action !== 'run' || command.role !== 'standalone') throw new Error(JSON.stringify(command));
  return command.config;
}

function faultsOf(flags: string[], environment: Environment = {}): readonly string[] {
  const command = readCommand(['standalone', ...flags], environment);
  if (command.action !== 'refuse') throw new Error(`accepted: ${JSON.stringify(command)}`);
  return command.faults;
}

describe('standalone configuration', () => {
  let folder: string;
  let file: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tokenkeep-config-'));
    file = join(folder, 'file');
    writeFileSync(file, '');
  });

  after(() => rmSync(folder, { recursive: true }));

  it('has defaults for everything', () => {
    expect(configOf([])).to.deep.equal({
      ...{ tracingDisabled: false, tracesExporter: undefined, tracesEndpoint: undefined, otlpEndpoint: undefined },
      ...{ tracesProtocol: undefined, otlpProtocol: undefined },
      ...{ tracesSampler: 'parentbased_always_on', tracesSamplerArg: 1 },
      port: 8080,
      host: '127.0.0.1',
      callbackHttpHosts: [],
      internalPort: 0,
      metricsPort: 9090,
      dataDir: resolve('.data'),
      manifests: undefined,
      keyRotation: undefined,
      databaseUrl: undefined,
      maintenanceDatabaseUrl: undefined,
      migrationDatabaseUrl: undefined,
      headerPrefixes: ['SVC', 'BT'],
      corsOrigins: [],
      ...VAULT_DEFAULTS,
      redisUrl: undefined,
      trustedProxies: 0,
      ipRateLimits: true,
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  it('is frozen', () => {
    const config = configOf([]);
    expect(config).to.be.frozen;
    expect(config.headerPrefixes).to.be.frozen;
    expect(config.corsOrigins).to.be.frozen;
    expect(configOf(['--cors-origins', '*']).corsOrigins).to.be.frozen;
  });

  it('takes every setting by flag or by variable', () => {
    const given: [string, string, Partial<StandaloneConfig>][] = [
      ['port', '81', { port: 81 }],
      ['host', '::1', { host: '::1' }],
      ['internal-port', '82', { internalPort: 82 }],
      ['metrics-port', '0', { metricsPort: 0 }],
      ['data-dir', join(folder, 'new'), { dataDir: join(folder, 'new') }],
      ['manifests', folder, { manifests: folder }],
      ['database-url', 'postgresql://u:p@h:1/d', { databaseUrl: 'postgresql://u:p@h:1/d' }],
      ['header-prefixes', 'acme, BT', { headerPrefixes: ['ACME', 'BT'] }],
      ['cors-origins', '*', { corsOrigins: ['*'] }],
      [
        'callback-http-hosts',
        'receiver, 10.0.0.1:81,127.0.0.1:80,[fd00::1]',
        { callbackHttpHosts: ['receiver', '10.0.0.1:81', '127.0.0.1:80', '[fd00::1]'] },
      ],
      ['cors-origins', 'https://a.b, http://c:81', { corsOrigins: ['https://a.b', 'http://c:81'] }],
      ['key-rotation', '30d', { keyRotation: 30 * 24 * 3600_000 }],
      ['key-rotation', 'off', { keyRotation: 'off' }],
      ['redis-url', 'rediss://:p@h:1/2', { redisUrl: 'rediss://:p@h:1/2' }],
      ['trusted-proxies', '2', { trustedProxies: 2 }],
      ['ip-rate-limits', 'off', { ipRateLimits: false }],
      ['log-level', 'debug', { logLevel: 'debug' }],
      ['log-format', 'pretty', { logFormat: 'pretty' }],
    ];
    for (const [flag, value, expected] of given) {
      expect(configOf([`--${flag}`, value]), flag).to.deep.include(expected);
      expect(configOf([`--${flag}=${value}`]), flag).to.deep.include(expected);
      const variable = `TOKENKEEP_${flag.toUpperCase().replaceAll('-', '_')}`;
      expect(configOf([], { [variable]: value }), variable).to.deep.include(expected);
    }
  });

  it('prefers the flag to the variable', () => {
    expect(configOf(['--port', '81'], { TOKENKEEP_PORT: '82' }).port).to.equal(81);
  });

  const refused: [string[], string][] = [
    [['--port', '65536'], '--port (TOKENKEEP_PORT): must be a port number'],
    [['--port', '8e3'], '--port (TOKENKEEP_PORT): must be a port number'],
    [['--internal-port=-1'], '--internal-port (TOKENKEEP_INTERNAL_PORT): must be a port number'],
    [['--metrics-port', '8080'], '--metrics-port (TOKENKEEP_METRICS_PORT): must differ from --port'],
    [['--host', 'a b'], '--host (TOKENKEEP_HOST): must be a host name'],
    [['--host'], '--host (TOKENKEEP_HOST): needs a value'],
    [['--port', '1', '--port', '2'], '--port (TOKENKEEP_PORT): is given twice'],
    [['--manifests', '/nowhere'], '--manifests (TOKENKEEP_MANIFESTS): must be a folder; /nowhere is not one'],
    [['--data-dir='], '--data-dir (TOKENKEEP_DATA_DIR): must be a folder'],
    [['--header-prefixes', 'SVC,'], '--header-prefixes (TOKENKEEP_HEADER_PREFIXES): must be comma-separated'],
    [['--header-prefixes', 'SVC,svc'], '--header-prefixes (TOKENKEEP_HEADER_PREFIXES): must name each prefix once'],
    [
      ['--callback-http-hosts', 'http://a.test'],
      '--callback-http-hosts (TOKENKEEP_CALLBACK_HTTP_HOSTS): must be comma-separated hosts',
    ],
    [
      ['--callback-http-hosts', 'a.test,a.test'],
      '--callback-http-hosts (TOKENKEEP_CALLBACK_HTTP_HOSTS): must name each host once',
    ],
    [
      ['--callback-http-hosts', '169.254.169.254:80'],
      '--callback-http-hosts (TOKENKEEP_CALLBACK_HTTP_HOSTS): must not name 169.254.169.254,',
    ],
    [
      ['--callback-http-hosts', '[fd00:ec2::254]'],
      '--callback-http-hosts (TOKENKEEP_CALLBACK_HTTP_HOSTS): must not name fd00:ec2::254,',
    ],
    [['--cors-origins='], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated origins'],
    [['--cors-origins', 'shop.example'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated'],
    [['--cors-origins', 'https://a.b/'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated'],
    [['--cors-origins', 'https://a.b:443'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated'],
    [['--cors-origins', 'https://A.b'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated'],
    [['--cors-origins', 'https://*.b'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated'],
    [['--cors-origins', 'https://a.b,*'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated'],
    [['--cors-origins', 'null'], '--cors-origins (TOKENKEEP_CORS_ORIGINS): must be * or comma-separated origins'],
    [
      ['--cors-origins', 'https://a.b,https://a.b'],
      '--cors-origins (TOKENKEEP_CORS_ORIGINS): must name each origin once',
    ],
    [['--key-rotation', 'never'], '--key-rotation (TOKENKEEP_KEY_ROTATION): must be a duration such as 90d, or off'],
    [['--trusted-proxies', '-1'], '--trusted-proxies (TOKENKEEP_TRUSTED_PROXIES): needs a value'],
    [['--trusted-proxies', '11'], '--trusted-proxies (TOKENKEEP_TRUSTED_PROXIES): must be a number of proxies'],
    [['--ip-rate-limits', 'yes'], '--ip-rate-limits (TOKENKEEP_IP_RATE_LIMITS): must be one of on, off'],
    [['--log-level', 'loud'], '--log-level (TOKENKEEP_LOG_LEVEL): must be one of debug, info, warn, error, silent'],
    [['--log-format', 'xml'], '--log-format (TOKENKEEP_LOG_FORMAT): must be one of json, pretty'],
    [['--prot', '81'], '--prot: unknown flag (did you mean --port?)'],
    [['-p'], '-p: unknown flag'],
    [['extra'], 'argument 1: every setting is given by a flag'],
  ];
  for (const [flags, fault] of refused) {
    it(`refuses ${flags.join(' ')}`, () => {
      const faults = faultsOf(flags);
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.include(fault);
    });
  }

  it('refuses files where folders belong', () => {
    expect(faultsOf(['--manifests', file, '--data-dir', file])).to.have.lengthOf(2);
    expect(faultsOf(['--data-dir', join(file, 'below')])).to.have.lengthOf(1);
  });

  it('refuses unknown variables under its prefix, and no others', () => {
    expect(faultsOf([], { TOKENKEEP_PROT: '1', PATH: '/bin' })).to.deep.equal([
      'TOKENKEEP_PROT: unknown environment variable (did you mean TOKENKEEP_PORT?)',
    ]);
  });

  it('tells all faults at once', () => {
    const faults = faultsOf(['--port', 'x', '--log-level', 'loud', '--unheard-of', '1', '--manifests', '/nowhere'], {
      TOKENKEEP_DATA_DIR: file,
      TOKENKEEP_NONSENSE: '1',
    });
    expect(faults).to.have.lengthOf(6);
  });

  for (const url of [
    'mysql://user:hunter2@host/database',
    'user:hunter2@host/database',
    'postgres://user:hunter2@host',
    'postgres://user:hunter2@ho st:notaport/d',
  ]) {
    it(`refuses ${url.replace('hunter2', '…')} without quoting it`, () => {
      const faults = [...faultsOf(['--database-url', url]), ...faultsOf([], { TOKENKEEP_DATABASE_URL: url })];
      expect(faults).to.have.lengthOf(2);
      expect(faults.join()).to.include('--database-url (TOKENKEEP_DATABASE_URL)').and.not.include('hunter2');
    });
  }

  for (const url of [
    'http://user:hunter2@host',
    'user:hunter2@host',
    'redis://user:hunter2@ho st',
    'redis:///hunter2',
    'rediss://host/hunter2',
  ]) {
    it(`refuses ${url.replace('hunter2', '…')} as a Redis without quoting it`, () => {
      const faults = [...faultsOf(['--redis-url', url]), ...faultsOf([], { TOKENKEEP_REDIS_URL: url })];
      expect(faults).to.have.lengthOf(2);
      expect(faults.join()).to.include('--redis-url (TOKENKEEP_REDIS_URL)').and.not.include('hunter2');
    });
  }

  it('does not quote the value of a misspelt flag', () => {
    expect(faultsOf(['--databse-url', 'postgres://u:hunter2@h/d'])).to.deep.equal([
      '--databse-url: unknown flag (did you mean --database-url?)',
    ]);
  });
});
