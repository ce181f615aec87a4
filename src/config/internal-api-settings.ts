import { internalAllowHttp, isLoopback } from './plain-http.ts';
import { SettingFault, settingName, type Settings } from './setting.ts';
import { parseExistingFile, parseHost, parseOneOf, parsePort } from './values.ts';

/** How the control plane proves to the internal API who it is. */
export const INTERNAL_AUTH_METHODS = ['kubernetes', 'token'] as const;

/** The namespace and the name of a ServiceAccount. */
export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** The internal API where the control plane is another process. */
export interface InternalApiConfig {
  readonly internalHost: string;
  readonly internalPort: number;
  readonly internalAuth: (typeof INTERNAL_AUTH_METHODS)[number];
  /** For `kubernetes`; not empty. */
  readonly controlPlaneServiceAccounts: readonly ServiceAccountName[] | undefined;
  /** For `kubernetes`: absolute, as are all files here. The pod's own ServiceAccount is used where it is undefined. */
  readonly kubeconfig: string | undefined;
  /** For `token`. */
  readonly internalTokenFile: string | undefined;
  /** PEM; plain HTTP without it, and the next. */
  readonly internalTlsCertFile: string | undefined;
  readonly internalTlsKeyFile: string | undefined;
  /** Whether plain HTTP may leave this machine. */
  readonly internalAllowHttp: boolean;
}

const optionalFile = { placeholder: 'FILE', fallback: { value: undefined }, parse: parseExistingFile } as const;

export const kubeconfigSetting = {
  flag: 'kubeconfig',
  description: "how to reach Kubernetes; without it, as the pod's own ServiceAccount",
  ...optionalFile,
};

export const internalApiSettings: Settings<InternalApiConfig> = {
  internalHost: {
    flag: 'internal-host',
    placeholder: 'HOST',
    description: 'address that the internal API listens on: for the control plane alone',
    fallback: { text: '127.0.0.1' },
    parse: parseHost,
  },
  internalPort: {
    flag: 'internal-port',
    placeholder: 'PORT',
    description: 'port of the internal API',
    fallback: 'required',
    parse: parsePort,
  },
  internalAuth: {
    flag: 'internal-auth',
    placeholder: 'METHOD',
    description: `how the control plane shows who it is: ${INTERNAL_AUTH_METHODS.join(', ')}`,
    fallback: { text: 'kubernetes' },
    parse: parseOneOf(INTERNAL_AUTH_METHODS),
  },
  controlPlaneServiceAccounts: {
    flag: 'control-plane-service-accounts',
    placeholder: 'LIST',
    description: 'ServiceAccounts that the operator runs as, comma-separated, such as tokenkeep-system/operator',
    fallback: { value: undefined },
    parse: parseServiceAccounts,
  },
  kubeconfig: kubeconfigSetting,
  internalTokenFile: {
    flag: 'internal-token-file',
    description: 'with --internal-auth token, a file with the secret that the operator holds too; read every time',
    ...optionalFile,
  },
  internalTlsCertFile: {
    flag: 'internal-tls-cert-file',
    description: 'PEM of the certificate of the internal API, read again when it changes',
    ...optionalFile,
  },
  internalTlsKeyFile: {
    flag: 'internal-tls-key-file',
    description: 'PEM of its private key, read again when it changes',
    ...optionalFile,
  },
  internalAllowHttp,
};

/** Faults that only several settings together show. */
export function internalApiFaults(config: Partial<InternalApiConfig>): string[] {
  return [...authFaults(config), ...tlsFaults(config)];
}

function authFaults(config: Partial<InternalApiConfig>): string[] {
  const { internalAuth, controlPlaneServiceAccounts, internalTokenFile, kubeconfig } = config;
  const ofMethods = {
    kubernetes: { 'control-plane-service-accounts': controlPlaneServiceAccounts, kubeconfig },
    token: { 'internal-token-file': internalTokenFile },
  };
  const [needed] = { kubernetes: ['control-plane-service-accounts'], token: ['internal-token-file'], none: [] }[
    internalAuth ?? 'none'
  ];
  return INTERNAL_AUTH_METHODS.flatMap((method) =>
    Object.entries(ofMethods[method]).flatMap(([flag, value]) => {
      if (method === internalAuth) {
        const isMissing = flag === needed && value === undefined;
        return isMissing ? [`${settingName(flag)}: must be given with --internal-auth ${method}`] : [];
      }
      return internalAuth === undefined || value === undefined
        ? []
        : [`${settingName(flag)}: needs --internal-auth ${method}`];
    }),
  );
}

function tlsFaults(config: Partial<InternalApiConfig>): string[] {
  const { internalHost, internalTlsCertFile, internalTlsKeyFile } = config;
  const isSecure = internalTlsCertFile !== undefined && internalTlsKeyFile !== undefined;
  if (isSecure || config.internalAllowHttp) return [];
  if (internalTlsCertFile !== undefined) return [together('internal-tls-key-file', 'internal-tls-cert-file')];
  if (internalTlsKeyFile !== undefined) return [together('internal-tls-cert-file', 'internal-tls-key-file')];
  if (internalHost === undefined || isLoopback(internalHost)) return [];
  const what = 'must be given, since tokens and reactors’ code leave this machine';
  return [`${settingName('internal-tls-cert-file')}: ${what}; --internal-allow-http allows http`];
}

function together(missing: string, given: string): string {
  return `${settingName(missing)}: must be given with --${given}`;
}

function parseServiceAccounts(text: string): readonly ServiceAccountName[] {
  const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
  const accounts = text.split(',').map((account) => {
    const [, namespace, name] = new RegExp(`^(${label})/(${label}(?:\\.${label})*)$`).exec(account.trim()) ?? [];
    if (namespace === undefined || name === undefined) {
      throw new SettingFault('must be comma-separated namespaces and names, such as tokenkeep-system/operator');
    }
    return Object.freeze({ namespace, name });
  });
  return Object.freeze(accounts);
}
