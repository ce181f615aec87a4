import { expect } from 'chai';
import { readCommand } from '../../../src/config/command.ts';
import type { OperatorConfig } from '../../../src/config/operator.ts';

const NEEDED = ['--internal-url', 'https://api.tokenkeep:8443', '--public-url', 'https://vault.example'];

function configOf(flags: string[], environment: Record<string, string> = {}): OperatorConfig {
  const command = readCommand(['operator', ...flags], environment);
  if (command.action !== 'run' || command.role !== 'operator') throw new Error(JSON.stringify(command));
  return command.config;
}

function faultsOf(flags: string[]): readonly string[] {
  const command = readCommand(['operator', ...flags], {});
  if (command.action !== 'refuse') throw new Error(`accepted: ${JSON.stringify(command)}`);
  return command.faults;
}

describe('settings of the operator', () => {
  it('are two where nothing is particular', () => {
    expect(configOf(NEEDED)).to.deep.equal({
      ...{ kubeconfig: undefined, internalUrl: 'https://api.tokenkeep:8443', internalCaFile: undefined },
      ...{ internalTokenFile: '/var/run/secrets/tokenkeep.dev/token', internalAllowHttp: false },
      ...{ publicUrl: 'https://vault.example', watchNamespaces: undefined },
      ...{ leaderElection: true, leaderElectionNamespace: undefined },
      ...{ internalService: undefined, apiMetricsUrl: undefined },
      ...{ leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000, workers: 8 },
      ...{ reactorImage: undefined, reactorNamespace: undefined, reactorImagePullSecrets: [] },
      reactorHost: '0.0.0.0',
      ...{ apiPodNamespace: undefined, apiPodPort: 8444, reactorMetricsNamespaces: [] },
      apiPodLabels: { 'app.kubernetes.io/name': 'tokenkeep', 'app.kubernetes.io/component': 'api' },
      ...{ host: '127.0.0.1', metricsPort: 9090, healthPort: 8081, logLevel: 'info', logFormat: 'json' },
    });
  });

  it('are taken by flag or by variable', () => {
    const given: [string, string, Partial<OperatorConfig>][] = [
      ['watch-namespaces', 'shop, payments', { watchNamespaces: ['shop', 'payments'] }],
      ['leader-election', 'off', { leaderElection: false }],
      ['leader-election-namespace', 'infra', { leaderElectionNamespace: 'infra' }],
      ['lease-duration', '1m', { leaseDuration: 60_000 }],
      ['workers', '32', { workers: 32 }],
      ['health-port', '0', { healthPort: 0 }],
      ['reactor-image', 'registry.example:5000/tokenkeep:1.2', { reactorImage: 'registry.example:5000/tokenkeep:1.2' }],
      ['reactor-host', '::', { reactorHost: '::' }],
      ['api-pod-labels', 'app=vault, tier=api', { apiPodLabels: { app: 'vault', tier: 'api' } }],
      ['api-pod-port', '9000', { apiPodPort: 9000 }],
    ];
    for (const [flag, text, expected] of given) {
      expect(configOf([...NEEDED, `--${flag}`, text]), flag).to.deep.include(expected);
      const variable = `TOKENKEEP_${flag.toUpperCase().replaceAll('-', '_')}`;
      expect(configOf(NEEDED, { [variable]: text }), variable).to.deep.include(expected);
    }
  });

  it('say where reactors run, once they say as what', () => {
    const flags = [
      '--reactor-namespace',
      'reactors',
      '--reactor-image-pull-secrets',
      'a,b',
      '--api-pod-namespace',
      'api',
      '--reactor-metrics-namespaces',
      'monitoring, ops',
    ];
    expect(configOf([...NEEDED, '--reactor-image', 'tokenkeep', ...flags])).to.deep.include({
      ...{ reactorNamespace: 'reactors', reactorImagePullSecrets: ['a', 'b'], apiPodNamespace: 'api' },
      reactorMetricsNamespaces: ['monitoring', 'ops'],
    });
    const named = faultsOf([...NEEDED, ...flags]).map(
      (fault) => /^--([\w-]+) .*needs --reactor-image/.exec(fault)?.[1],
    );
    expect(named).to.deep.equal([
      ...['reactor-namespace', 'reactor-image-pull-secrets', 'api-pod-namespace', 'reactor-metrics-namespaces'],
    ]);
  });

  it('say all that is wrong at once', () => {
    const flags = ['--kubeconfig', '/nowhere', '--workers', '0', '--watch-namespaces', 'A', '--leader-election', 'yes'];
    const named = faultsOf(flags).map((fault) => /^--([\w-]+) /.exec(fault)?.[1]);
    const needed = ['internal-url', 'public-url'];
    expect(named).to.have.members(['kubeconfig', 'workers', 'watch-namespaces', 'leader-election', ...needed]);
  });

  it('need https for a token that leaves this machine, or leave to go without', () => {
    const at = (url: string) => ['--internal-url', url, '--public-url', 'http://vault.example'];
    expect(faultsOf(at('http://api.tokenkeep:8081'))[0]).to.match(/^--internal-url .*must be https/);
    expect(configOf([...at('http://api.tokenkeep:8081'), '--internal-allow-http']).internalAllowHttp).to.equal(true);
    expect(configOf(at('http://127.0.0.1:8081')).internalUrl).to.equal('http://127.0.0.1:8081');
  });

  it('name the Services by which single replicas of the API are found', () => {
    const flags = [
      '--internal-service',
      'tokenkeep/internal',
      '--api-metrics-url',
      'http://metrics.tokenkeep.svc:9090',
    ];
    expect(configOf([...NEEDED, ...flags])).to.deep.include({
      internalService: { namespace: 'tokenkeep', name: 'internal' },
      apiMetricsUrl: 'http://metrics.tokenkeep.svc:9090',
    });
  });

  const refused: [string[], RegExp][] = [
    [['--public-url', 'https://vault.example/path'], /^--public-url .*scheme, a host and a port alone/],
    [['--lease-duration', '10s'], /^--lease-duration .*longer than --renew-deadline/],
    [['--retry-period', '10s'], /^--renew-deadline .*longer than --retry-period/],
    [['--watch-namespaces', 'a,a'], /^--watch-namespaces .*once/],
    [['--reactor-image', 'a b'], /^--reactor-image .*must name an image/],
    [['--reactor-namespace', 'Re'], /^--reactor-namespace .*name of a namespace/],
    [['--api-pod-labels', 'app'.repeat(30)], /^--api-pod-labels .*must be labels/],
    [['--api-pod-labels', 'a=b=c'], /^--api-pod-labels .*must be labels/],
    [['--api-pod-port', '0'], /^--api-pod-port .*from 1 to 65535/],
    [['--internal-service', 'tokenkeep'], /^--internal-service .*NAMESPACE\/NAME/],
    [['--internal-service', 'tokenkeep/internal/8443'], /^--internal-service .*NAMESPACE\/NAME/],
    [['--api-metrics-url', 'http://10.0.0.1:9090'], /^--api-metrics-url .*SERVICE.NAMESPACE/],
    [['--api-metrics-url', 'http://metrics:9090'], /^--api-metrics-url .*SERVICE.NAMESPACE/],
    [['--health-port', '9090'], /^--health-port .*must differ from --metrics-port/],
    [['--database-url', 'postgres://h/d'], /^--database-url: unknown flag/],
  ];
  for (const [flags, fault] of refused) {
    it(`refuse ${flags.join(' ')}`, () => {
      expect(faultsOf([...NEEDED.slice(0, flags[0] === '--public-url' ? 2 : 4), ...flags])[0]).to.match(fault);
    });
  }
});
