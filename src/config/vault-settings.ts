import { isPrivate } from './plain-http.ts';
import { SettingFault, settingName, switchSetting, type Setting, type Settings } from './setting.ts';
import { parseDuration, parseExistingFile, parseOneOf } from './values.ts';

/** How the process proves to Vault who it is. */
export const VAULT_AUTH_METHODS = ['token', 'approle', 'kubernetes'] as const;

/** Key management in Vault's transit engine, or OpenBao's. Without an address, nothing of it counts. */
export interface VaultConfig {
  /** Origin alone. A keyring file is used where it is undefined. */
  readonly vaultAddr: string | undefined;
  readonly vaultAuth: (typeof VAULT_AUTH_METHODS)[number];
  /** From VAULT_TOKEN. A secret. */
  readonly vaultToken: string | undefined;
  /** Absolute, as are all files here. */
  readonly vaultTokenFile: string | undefined;
  readonly vaultRoleId: string | undefined;
  readonly vaultSecretIdFile: string | undefined;
  readonly vaultKubernetesRole: string | undefined;
  readonly vaultKubernetesTokenFile: string;
  /** Undefined: named as the method is. */
  readonly vaultAuthMount: string | undefined;
  readonly vaultNamespace: string | undefined;
  readonly vaultCaFile: string | undefined;
  /** For one try, in ms. */
  readonly vaultTimeout: number;
  /** Whether http:// may leave this machine. */
  readonly vaultAllowHttp: boolean;
  readonly transitMount: string;
  readonly transitKey: string;
}

/** Where Kubernetes puts the token of a pod's service account. */
const KUBERNETES_TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const optional = { fallback: { value: undefined } } as const;

export const vaultSettings: Settings<VaultConfig> = {
  vaultAddr: {
    flag: 'vault-addr',
    placeholder: 'URL',
    description: 'a Vault or OpenBao whose transit engine holds the master keys, such as https://vault.example:8200',
    ...optional,
    parse: parseVaultAddress,
  },
  vaultAuth: {
    flag: 'vault-auth',
    placeholder: 'METHOD',
    description: `how to log in there: ${VAULT_AUTH_METHODS.join(', ')}`,
    fallback: { text: 'token' },
    parse: parseOneOf(VAULT_AUTH_METHODS),
  },
  vaultToken: {
    flag: 'vault-token',
    variable: 'VAULT_TOKEN',
    placeholder: 'TOKEN',
    description: 'a token, where there is no --vault-token-file',
    ...optional,
    parse: parseToken,
  },
  vaultTokenFile: {
    flag: 'vault-token-file',
    placeholder: 'FILE',
    description: 'a file with the token, such as the sink of a Vault Agent; read again when it changes',
    ...optional,
    parse: parseExistingFile,
  },
  vaultRoleId: {
    flag: 'vault-role-id',
    placeholder: 'ID',
    description: 'the role id of the AppRole',
    ...optional,
    parse: parseName,
  },
  vaultSecretIdFile: {
    flag: 'vault-secret-id-file',
    placeholder: 'FILE',
    description: 'a file with the secret id of the AppRole; read at every login',
    ...optional,
    parse: parseExistingFile,
  },
  vaultKubernetesRole: {
    flag: 'vault-kubernetes-role',
    placeholder: 'ROLE',
    description: 'the role of the Kubernetes auth method',
    ...optional,
    parse: parseName,
  },
  vaultKubernetesTokenFile: {
    flag: 'vault-kubernetes-token-file',
    placeholder: 'FILE',
    description: 'the service account token of this pod; read at every login',
    fallback: { value: KUBERNETES_TOKEN_FILE },
    parse: parseExistingFile,
  },
  vaultAuthMount: {
    flag: 'vault-auth-mount',
    placeholder: 'PATH',
    description: 'where the auth method is mounted, if not under its own name',
    ...optional,
    parse: parsePath,
  },
  vaultNamespace: {
    flag: 'vault-namespace',
    placeholder: 'PATH',
    description: 'the namespace of Vault or OpenBao that holds the mounts',
    ...optional,
    parse: parsePath,
  },
  vaultCaFile: {
    flag: 'vault-ca-file',
    placeholder: 'FILE',
    description: "PEM of the authorities that may have signed Vault's certificate, in place of the system's",
    ...optional,
    parse: parseExistingFile,
  },
  vaultTimeout: {
    flag: 'vault-timeout',
    placeholder: 'DURATION',
    description: 'for one try of a request to Vault',
    fallback: { text: '2s' },
    parse: parseDuration,
  },
  vaultAllowHttp: switchSetting('vault-allow-http', 'let tokens and data keys go to Vault without TLS beyond loopback'),
  transitMount: {
    flag: 'transit-mount',
    placeholder: 'PATH',
    description: 'where the transit engine is mounted',
    fallback: { text: 'transit' },
    parse: parsePath,
  },
  transitKey: {
    flag: 'transit-key',
    placeholder: 'NAME',
    description: 'name of the transit key of tokens; <name>-cvc and <name>-audit are two more',
    fallback: { text: 'tokenkeep' },
    parse: parseName,
  },
};

/** Faults that only several settings of Vault together show. */
export function vaultFaults(config: Partial<VaultConfig>): string[] {
  const { vaultAddr, vaultAuth, vaultToken, vaultTokenFile, vaultRoleId, vaultSecretIdFile } = config;
  if (vaultAddr === undefined) return needless(config);
  const faults: string[] = [];
  const needed = (flag: string, value: unknown): void => {
    if (value === undefined) faults.push(`${settingName(flag)}: must be given with --vault-auth ${vaultAuth}`);
  };
  if (vaultAuth === 'token' && vaultToken === undefined && vaultTokenFile === undefined) {
    faults.push(`${settingName('vault-token-file')}: must be given, or VAULT_TOKEN, with --vault-auth token`);
  }
  if (vaultAuth === 'approle') {
    needed('vault-role-id', vaultRoleId);
    needed('vault-secret-id-file', vaultSecretIdFile);
  }
  if (vaultAuth === 'kubernetes') needed('vault-kubernetes-role', config.vaultKubernetesRole);
  if (!config.vaultAllowHttp && !isPrivate(new URL(vaultAddr))) {
    faults.push(
      `${settingName('vault-addr')}: must be https, since data keys travel on it; --vault-allow-http allows http`,
    );
  }
  return faults;
}

/** Settings of a Vault that is not named would be ignored, and the keyring used where Vault was meant. */
function needless(config: Partial<VaultConfig>): string[] {
  return Object.entries<Setting<unknown>>(vaultSettings)
    .filter(([property, setting]) => isChanged(setting, config[property as keyof VaultConfig]))
    .map(([, { flag }]) => `${settingName(flag)}: needs --vault-addr`);
}

/** Whether a setting has another value than without its flag and its own variable. */
function isChanged({ fallback, variable, parse }: Setting<unknown>, value: unknown): boolean {
  // What other clients of Vault read may be meant for them; and what is faulty is reported as that.
  if (variable !== undefined || fallback === 'required' || value === undefined) return false;
  return value !== ('text' in fallback ? parse(fallback.text) : fallback.value);
}

function parseVaultAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new SettingFault('must be a URL such as https://vault.example:8200');
  }
  // A path would be a mount, and a name with a password is nothing that Vault knows.
  if (`${url.origin}/` !== url.href) throw new SettingFault('must be a scheme, a host and a port alone');
  return url.origin;
}

/** Messages hold nothing of a token. */
function parseToken(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new SettingFault('must be a token of Vault, without white space');
  return text;
}

function parseName(text: string): string {
  if (!/^\w[\w.-]*$/.test(text))
    throw new SettingFault('must be a name of letters, digits, dots, dashes and underscores');
  return text;
}

/** Segments of names, without slashes at the ends. */
function parsePath(text: string): string {
  const path = text.replace(/^\/|\/$/g, '');
  if (!/^\w[\w.-]*(?:\/\w[\w.-]*)*$/.test(path)) throw new SettingFault('must be a path such as team/transit');
  return path;
}
