import { readFile } from 'node:fs/promises';
import { DomainError } from '../../domain/errors.ts';
import type { VaultAnswer, VaultClient } from './client.ts';
import { VaultRefusal } from './failures.ts';

/** How to prove to Vault who this is. Files are read at every login. */
export type VaultAuth =
  /** A secret. */
  | { readonly method: 'token'; readonly token: string }
  | { readonly method: 'token-file'; readonly file: string }
  | { readonly method: 'approle'; readonly mount: string; readonly roleId: string; readonly secretIdFile: string }
  | { readonly method: 'kubernetes'; readonly mount: string; readonly role: string; readonly tokenFile: string };

/** A token, and for how long. */
export interface Lease {
  readonly token: string;
  /** From when it was given; Infinity for one that does not end. */
  readonly lifeMs: number;
  readonly renewable: boolean;
}

export interface Credentials {
  /** Rejects with VaultAway, or with DomainError 'unavailable' that says what is wrong with them. */
  login(): Promise<Lease>;
  /** Changes where another token is to be had. */
  readonly watchedFile: string | undefined;
  /** Whether each login makes a token for this process alone, which ends with it. */
  readonly makesTokens: boolean;
}

export function createCredentials(auth: VaultAuth, client: VaultClient): Credentials {
  switch (auth.method) {
    case 'token':
      return given(client, 'VAULT_TOKEN', async () => auth.token);
    case 'token-file':
      return { ...given(client, auth.file, () => readSecret(auth.file)), watchedFile: auth.file };
    case 'approle':
      return loggingIn(client, auth.mount, `--vault-role-id and ${auth.secretIdFile}`, async () => ({
        role_id: auth.roleId,
        secret_id: await readSecret(auth.secretIdFile),
      }));
    case 'kubernetes':
      return loggingIn(client, auth.mount, `--vault-kubernetes-role and ${auth.tokenFile}`, async () => ({
        role: auth.role,
        jwt: await readSecret(auth.tokenFile),
      }));
  }
}

/** A token that somebody else made; Vault tells how long it lives. */
function given(client: VaultClient, source: string, find: () => Promise<string>): Credentials {
  async function login(): Promise<Lease> {
    const token = await find();
    const { data } = await client.read('auth/token/lookup-self', token).catch((error: unknown) => {
      throw refusedLogin(error, `the token of ${source} is not, or no longer, valid`);
    });
    return { token, lifeMs: lifeOf(data?.['ttl']), renewable: data?.['renewable'] === true };
  }
  return { login, watchedFile: undefined, makesTokens: false };
}

function loggingIn(
  client: VaultClient,
  mount: string,
  sources: string,
  proof: () => Promise<Record<string, string>>,
): Credentials {
  async function login(): Promise<Lease> {
    const answer = await client.write(`auth/${mount}/login`, await proof()).catch((error: unknown) => {
      throw refusedLogin(error, `Vault refuses the login at auth/${mount}: look at ${sources}`);
    });
    return leaseOf(answer);
  }
  return { login, watchedFile: undefined, makesTokens: true };
}

/** What a login or a renewal gave. */
export function leaseOf({ auth }: VaultAnswer): Lease {
  if (auth === undefined) throw new DomainError('unavailable', 'Vault answered a login without a token');
  return { token: auth.client_token, lifeMs: lifeOf(auth.lease_duration), renewable: auth.renewable };
}

/** Vault counts in seconds, and says 0 for a token that does not end. */
function lifeOf(seconds: unknown): number {
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Infinity;
}

function refusedLogin(error: unknown, message: string): unknown {
  return error instanceof VaultRefusal ? new DomainError('unavailable', message, { cause: error }) : error;
}

async function readSecret(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new DomainError('unavailable', `${file}, needed to log in to Vault, cannot be read (${error.code})`);
  });
  const secret = text.trim();
  // Anything else cannot stand in a header, and Node's refusal would quote it.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new DomainError('unavailable', `${file}, needed to log in to Vault, does not hold a secret and nothing else`);
  }
  return secret;
}
