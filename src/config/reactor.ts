import { resolve } from 'node:path';
import type { SettingsReader } from './read-settings.ts';
import { SettingFault, settingName, switchSetting } from './setting.ts';
import { parseTlsFolder } from './tls-folder.ts';
import { parseExistingFile, parseHost, parsePort } from './values.ts';

/**
 * A process that runs one reactor, or checks code. In a pod it is told what by its settings. Without `workloadFile` and
 * `check` it is told everything by the process that started it, and nothing by settings: all are undefined.
 */
export interface ReactorConfig {
  /** Absolute, as are all paths here. */
  readonly workloadFile: string | undefined;
  readonly check: boolean;
  readonly tlsDir: string | undefined;
  readonly host: string | undefined;
  /** 0 takes a free one, as for the next. */
  readonly port: number | undefined;
  readonly healthPort: number | undefined;
  readonly terminationLog: string | undefined;
}

/** What is served where in a pod, unless it is told otherwise. */
export const POD_DEFAULTS = {
  host: '0.0.0.0',
  port: 8443,
  healthPort: 8081,
  terminationLog: '/dev/termination-log',
} as const;

const unset = { value: undefined };

export const reactorSettings: SettingsReader<ReactorConfig> = {
  settings: {
    workloadFile: {
      flag: 'workload-file',
      placeholder: 'FILE',
      description: 'in a pod: the code to run, with its configuration and its limits, as the operator writes it',
      fallback: unset,
      parse: parseExistingFile,
    },
    check: switchSetting('check', 'in a pod: check the code of reactors before they are made, and run none'),
    tlsDir: {
      flag: 'tls-dir',
      placeholder: 'DIR',
      description: 'tls.crt, tls.key, ca.crt: of this instance, and of the authority of the API; read again on changes',
      fallback: unset,
      parse: parseTlsFolder,
    },
    host: {
      flag: 'host',
      placeholder: 'HOST',
      description: `address to listen on (default ${POD_DEFAULTS.host})`,
      fallback: unset,
      parse: parseHost,
    },
    port: {
      flag: 'port',
      placeholder: 'PORT',
      description: `port for the API alone, by mutual TLS (default ${POD_DEFAULTS.port})`,
      fallback: unset,
      parse: parsePort,
    },
    healthPort: {
      flag: 'health-port',
      placeholder: 'PORT',
      description: `port of GET /healthz, /readyz and /metrics (default ${POD_DEFAULTS.healthPort})`,
      fallback: unset,
      parse: parsePort,
    },
    terminationLog: {
      flag: 'termination-log',
      placeholder: 'FILE',
      description: `takes why the process ended, where it exists (default ${POD_DEFAULTS.terminationLog})`,
      fallback: unset,
      parse: parsePath,
    },
  },
  crossCheck: (config) => {
    const { workloadFile, check, tlsDir, host, port, healthPort, terminationLog } = config;
    if (workloadFile !== undefined && check) {
      return [`${settingName('check')}: must not be given with --workload-file`];
    }
    if (workloadFile !== undefined || check) {
      const given = check ? 'check' : 'workload-file';
      // A folder that is wrong is a fault by itself.
      const isMissing = 'tlsDir' in config && tlsDir === undefined;
      return isMissing ? [`${settingName('tls-dir')}: must be given with --${given}`] : [];
    }
    if (!('workloadFile' in config) || !('check' in config)) return [];
    const ofPods = { 'tls-dir': tlsDir, host, port, 'health-port': healthPort, 'termination-log': terminationLog };
    return Object.entries(ofPods)
      .filter(([, value]) => value !== undefined)
      .map(([flag]) => `${settingName(flag)}: needs --workload-file or --check`);
  },
};

function parsePath(text: string): string {
  if (text === '') throw new SettingFault('must be the path of a file');
  return resolve(text);
}
