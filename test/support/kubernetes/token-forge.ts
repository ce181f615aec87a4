import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesCluster } from './control-plane.ts';

/** Signs tokens of ServiceAccounts as a cluster does, for any time: the cluster itself grants 10 minutes and more. */
export interface TokenForge {
  /** For the API server that is to trust it. */
  readonly apiServerFlags: readonly string[];
  /** `endsAt` in epoch ms. The ServiceAccount must be there. */
  issue(cluster: KubernetesCluster, serviceAccount: string, audience: string, endsAt: number): Promise<string>;
}

export function createTokenForge(folder: string): TokenForge {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keyFile = join(folder, 'forge.pub');
  writeFileSync(keyFile, publicKey.export({ type: 'spki', format: 'pem' }));
  return {
    apiServerFlags: [`--service-account-key-file=${keyFile}`],
    async issue(cluster, serviceAccount, audience, endsAt) {
      const [namespace = '', name = ''] = serviceAccount.split('/');
      const uid = await cluster.demand(['get', 'serviceaccount', name, '-n', namespace, '-o=jsonpath={.metadata.uid}']);
      const now = Math.floor(Date.now() / 1000);
      const end = Math.floor(endsAt / 1000);
      return signed(privateKey, {
        ...{ iss: 'https://kubernetes.default.svc', sub: `system:serviceaccount:${namespace}:${name}` },
        ...{ aud: [audience], iat: Math.min(now, end) - 60, nbf: Math.min(now, end) - 60, exp: end },
        'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      });
    },
  };
}

/** A JWT (RFC 7519). */
export function signed(key: KeyObject, claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'RS256' })}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}
