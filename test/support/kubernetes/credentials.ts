import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Credentials {
  /** Bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  readonly tokenFile: string;
  /** What signs the tokens of ServiceAccounts. */
  readonly signingKeyFile: string;
}

/** Makes what a kube-apiserver needs to know its callers. */
export async function createCredentials(folder: string): Promise<Credentials> {
  const adminToken = randomBytes(16).toString('hex');
  const tokenFile = join(folder, 'tokens.csv');
  await writeFile(tokenFile, `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const signingKeyFile = join(folder, 'service-accounts.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(signingKeyFile, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  return { adminToken, tokenFile, signingKeyFile };
}

export interface KubeconfigContent {
  readonly server: string;
  readonly caFile: string;
  readonly token: string;
}

/** Writes a kubeconfig of one cluster and one user. */
export async function writeKubeconfig(file: string, { server, caFile, token }: KubeconfigContent): Promise<void> {
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  await writeFile(file, JSON.stringify(content), { mode: 0o600 });
}
