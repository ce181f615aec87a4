import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import createNodeVault from 'node-vault';
import { exchange, ExchangeError } from '../../platform/http-exchange.ts';
import { failureOf, VaultAway } from './failures.ts';

export interface VaultClientOptions {
  /** Origin, `http:` or `https:`. */
  readonly address: string;
  readonly namespace: string | undefined;
  /** PEM, asked for each request: authorities are renewed. The system's are trusted where it is undefined. */
  readonly ca: (() => Promise<string>) | undefined;
  /** For one whole exchange, in ms. */
  readonly timeoutMs: number;
}

/** What Vault answers, as far as it is used here. */
export interface VaultAnswer {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly auth?: { readonly client_token: string; readonly lease_duration: number; readonly renewable: boolean };
}

/** Asks Vault once, under the token given. Rejects with VaultAway or VaultRefusal. */
export interface VaultClient {
  read(path: string, token: string): Promise<VaultAnswer>;
  /** Without a token for logins alone. */
  write(path: string, body: object, token?: string): Promise<VaultAnswer>;
  /** Ends the connections that are kept open. */
  close(): void;
}

/** What node-vault hands to its transport. */
interface WireRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: Record<string, string>;
  readonly json?: unknown;
}

interface WireAnswer {
  readonly statusCode: number;
  readonly body: unknown;
  readonly request: { readonly path: string };
}

const MAX_ANSWER_BYTES = 1024 * 1024;
/** Shorter than Vault keeps idle connections, five minutes, so that none is closed as a request goes out on it. */
const KEPT = { keepAlive: true, timeout: 60_000 };

export function createVaultClient({ address, namespace, ca, timeoutMs }: VaultClientOptions): VaultClient {
  const isSecure = address.startsWith('https:');
  let agent: HttpAgent | undefined;
  let trusted: string | undefined;

  async function agentNow(): Promise<HttpAgent> {
    const authorities = isSecure ? await ca?.() : undefined;
    if (agent === undefined || authorities !== trusted) {
      // The one before ends with its connections, once they are idle.
      agent = isSecure
        ? new HttpsAgent({ ...KEPT, minVersion: 'TLSv1.2', ...(authorities === undefined ? {} : { ca: authorities }) })
        : new HttpAgent(KEPT);
      trusted = authorities;
    }
    return agent;
  }

  async function send({ method, uri, headers, json }: WireRequest): Promise<WireAnswer> {
    const through = await agentNow().catch(() => {
      throw new VaultAway('the file of its authorities cannot be read');
    });
    const answer = await exchange({
      method,
      url: uri,
      headers: { ...headers, 'content-type': 'application/json', 'x-vault-request': 'true' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...{ timeoutMs, maxBytes: MAX_ANSWER_BYTES, agent: through },
    }).catch((error: unknown) => {
      throw new VaultAway(reasonOf(error, timeoutMs));
    });
    return { statusCode: answer.status, body: parseBody(answer.body), request: { path: new URL(uri).pathname } };
  }

  const vault = createNodeVault({
    endpoint: address,
    // Its own prints bodies, tokens among them, where DEBUG is set.
    debug: () => undefined,
    // Its own follows redirects, and takes proxies and the checking of certificates from the environment.
    'request-promise': { defaults: () => send },
  });
  // What is not given here it would take from VAULT_TOKEN, VAULT_NAMESPACE and VAULT_PREFIX.
  Object.assign(vault, { token: '', namespace: namespace ?? '', pathPrefix: '' });

  async function answered(request: Promise<unknown>): Promise<VaultAnswer> {
    try {
      return (await request) ?? {};
    } catch (error) {
      const status = (error as { response?: { statusCode: number } }).response?.statusCode;
      throw status === undefined ? error : failureOf(status);
    }
  }

  return {
    read: (path, token) => answered(vault.read(path, { headers: { 'X-Vault-Token': token } })),
    write(path, body, token) {
      const headers = token === undefined ? {} : { 'X-Vault-Token': token };
      return answered(vault.write(path, body, { headers }));
    },
    close: () => agent?.destroy(),
  };
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof ExchangeError)) return 'the request cannot be sent';
  if (error.timedOut) return `nothing within ${timeoutMs} ms`;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'the connection was lost';
}

/** Vault's own answers are JSON; those of a proxy before it, of any kind, count for their status. */
function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
