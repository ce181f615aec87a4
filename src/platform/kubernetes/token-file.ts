import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';

/** The members of a user in a kubeconfig that say what its token is. */
interface KubeconfigUser {
  token?: unknown;
  tokenFile?: string;
  'token-file'?: string;
  'auth-provider'?: TokenFileProvider;
}

/** What the library makes of a user whose token lies in a file; its own types say `any`. */
interface TokenFileProvider {
  name: string;
  config?: { tokenFile?: string; path?: string };
}

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

const PROVIDER = 'reread-token-file';
const providerAt = (file: string): TokenFileProvider => ({ name: PROVIDER, config: { path: file } });
const providerOf = (user: User): TokenFileProvider | undefined => user.authProvider as TokenFileProvider | undefined;

/**
 * Makes token files of a parsed kubeconfig, relative to `folder`, known to `rereadTokenFiles`. The library knows
 * nothing of `tokenFile`, and reads `token-file` once. As in kubectl, a token file goes before a token.
 */
export function adoptTokenFiles(kubeconfig: unknown, folder: string): void {
  const { users } = (kubeconfig ?? {}) as { users?: { user?: KubeconfigUser | null }[] | null };
  for (const { user } of users ?? []) {
    const file = user?.tokenFile ?? user?.['token-file'];
    if (!user || !file) continue;
    delete user.token;
    delete user['token-file'];
    user['auth-provider'] = providerAt(path.resolve(folder, file));
  }
}

/**
 * Has every request signed with what the token file holds by then. The library's own reader of token files takes a
 * token that was replaced for up to a minute: a request that it signs with an expired one is refused.
 */
export function rereadTokenFiles(config: KubeConfig): void {
  for (const user of config.users) {
    const file = providerOf(user)?.config?.tokenFile;
    // Not under the name `tokenFile`, which the library's reader claims.
    if (file !== undefined) Object.assign(user, { authProvider: providerAt(file) });
  }
  config.addAuthenticator(tokenFileAuthenticator);
}

const tokenFileAuthenticator: Authenticator = {
  isAuthProvider: (user) => providerOf(user)?.name === PROVIDER,
  async applyAuthentication(user, options: RequestOptions) {
    const file = providerOf(user)?.config?.path ?? '';
    const token = (await readFile(file, 'utf8')).trim();
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${file} does not hold a token and nothing else`);
    options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
  },
};
