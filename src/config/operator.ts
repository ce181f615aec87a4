import { kubeconfigSetting } from './internal-api-settings.ts';
import { parseNamespace, parseNamespaces } from './namespaces.ts';
import { internalAllowHttp, isPrivate } from './plain-http.ts';
import type { SettingsReader } from './read-settings.ts';
import { reactorWorkloadFaults, reactorWorkloadSettings } from './reactor-workload-settings.ts';
import type { ReactorWorkloadConfig } from './reactor-workload-settings.ts';
import { scalingSettings } from './scaling-settings.ts';
import type { ScalingConfig } from './scaling-settings.ts';
import { portFaults, servingSettings } from './serving-settings.ts';
import { SettingFault, settingName } from './setting.ts';
import { logFormat, logLevel, type LogConfig } from './shared-settings.ts';
import { parseDuration, parseExistingFile, parseOneOf, parseOrigin, parsePort } from './values.ts';

/** The control plane of a cluster. Ports: 0 takes a free one. */
export interface OperatorConfig extends LogConfig, ReactorWorkloadConfig, ScalingConfig {
  /** Absolute, as are all files here. The pod's own ServiceAccount is used where it is undefined. */
  readonly kubeconfig: string | undefined;
  /** Origin of the internal API. */
  readonly internalUrl: string;
  /** The system's authorities where it is undefined. */
  readonly internalCaFile: string | undefined;
  readonly internalTokenFile: string;
  readonly internalAllowHttp: boolean;
  /** What applications are told to call. */
  readonly publicUrl: string;
  /** All of them where it is undefined. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly leaderElection: boolean;
  /** The pod's own where it is undefined. */
  readonly leaderElectionNamespace: string | undefined;
  /** In ms, as are the next two. */
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  /** How many resources are reconciled at a time. */
  readonly workers: number;
  /** What metrics and health listen on. */
  readonly host: string;
  readonly metricsPort: number;
  readonly healthPort: number;
}

/** A projected token: `audience: tokenkeep`. */
const TOKEN_FILE = '/var/run/secrets/tokenkeep.dev/token';
const MAX_WORKERS = 100;

export const operatorSettings: SettingsReader<OperatorConfig> = {
  settings: {
    kubeconfig: kubeconfigSetting,
    internalUrl: {
      flag: 'internal-url',
      placeholder: 'URL',
      description: 'the internal API, such as https://tokenkeep-internal.tokenkeep-system:8443',
      fallback: 'required',
      parse: parseOrigin,
    },
    internalCaFile: {
      flag: 'internal-ca-file',
      placeholder: 'FILE',
      description: "PEM of the authorities that may have signed its certificate, in place of the system's",
      fallback: { value: undefined },
      parse: parseExistingFile,
    },
    internalTokenFile: {
      flag: 'internal-token-file',
      placeholder: 'FILE',
      description: `the token that opens it, read for each request (default ${TOKEN_FILE})`,
      fallback: { value: TOKEN_FILE },
      parse: parseExistingFile,
    },
    internalAllowHttp,
    publicUrl: {
      flag: 'public-url',
      placeholder: 'URL',
      description: 'where workloads reach the API: the entry base-url of their Secrets',
      fallback: 'required',
      parse: parseOrigin,
    },
    watchNamespaces: {
      flag: 'watch-namespaces',
      placeholder: 'LIST',
      description: 'namespaces whose resources are reconciled, comma-separated; all of them without it',
      fallback: { value: undefined },
      parse: parseNamespaces,
    },
    leaderElection: {
      flag: 'leader-election',
      placeholder: 'on|off',
      description: 'whether one of several operators leads; off where there never is another',
      fallback: { text: 'on' },
      parse: (text) => parseOneOf(['on', 'off'])(text) === 'on',
    },
    leaderElectionNamespace: {
      flag: 'leader-election-namespace',
      placeholder: 'NAME',
      description: "where the Lease is, if not in the pod's own namespace",
      fallback: { value: undefined },
      parse: parseNamespace,
    },
    leaseDuration: duration(
      'lease-duration',
      'how long others leave the lease of a leader that is silent alone',
      '15s',
    ),
    renewDeadline: duration('renew-deadline', 'for how long a leader goes on that cannot renew its lease', '10s'),
    retryPeriod: duration('retry-period', 'between two attempts to get or renew the lease', '2s'),
    workers: {
      flag: 'workers',
      placeholder: 'N',
      description: 'resources that are reconciled at a time',
      fallback: { text: '8' },
      parse: parseWorkers,
    },
    ...reactorWorkloadSettings,
    ...scalingSettings,
    host: { ...servingSettings.host, description: 'address that metrics and health listen on' },
    metricsPort: servingSettings.metricsPort,
    healthPort: {
      flag: 'health-port',
      placeholder: 'PORT',
      description: 'port of GET /healthz and /readyz',
      fallback: { text: '8081' },
      parse: parsePort,
    },
    logLevel,
    logFormat,
  },
  crossCheck: (config) => [
    ...portFaults({ 'metrics-port': config.metricsPort, 'health-port': config.healthPort }),
    ...leaseFaults(config),
    ...urlFaults(config),
    ...reactorWorkloadFaults(config),
  ],
};

function duration(flag: string, description: string, text: string) {
  return { flag, placeholder: 'DURATION', description, fallback: { text }, parse: parseDuration };
}

/** Otherwise two may lead, or none for long. */
function leaseFaults({ leaseDuration, renewDeadline, retryPeriod }: Partial<OperatorConfig>): string[] {
  return [
    ...longer('lease-duration', leaseDuration, 'renew-deadline', renewDeadline),
    ...longer('renew-deadline', renewDeadline, 'retry-period', retryPeriod),
  ];
}

function longer(flag: string, value: number | undefined, otherFlag: string, other: number | undefined): string[] {
  if (value === undefined || other === undefined || value > other) return [];
  return [`${settingName(flag)}: must be longer than --${otherFlag}`];
}

function urlFaults({ internalUrl, internalCaFile, ...config }: Partial<OperatorConfig>): string[] {
  if (internalUrl === undefined) return [];
  const url = new URL(internalUrl);
  if (url.protocol === 'https:') return [];
  const needless = internalCaFile === undefined ? [] : [`${settingName('internal-ca-file')}: needs an https URL`];
  if (isPrivate(url) || config.internalAllowHttp) return needless;
  const what = 'must be https, since the token travels on it; --internal-allow-http allows http';
  return [...needless, `${settingName('internal-url')}: ${what}`];
}

function parseWorkers(text: string): number {
  const workers = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (!(workers >= 1 && workers <= MAX_WORKERS)) throw new SettingFault(`must be a number from 1 to ${MAX_WORKERS}`);
  return workers;
}
