import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { ExchangeRequest } from '../http-exchange.ts';

/** How one request reaches the cluster. */
export interface SignedConnection {
  headers: Record<string, string>;
  agent: HttpAgent;
  connection: NonNullable<ExchangeRequest['connection']>;
}

export interface Connections {
  /** Scheme, host, port and a path, if any, in front of every path. */
  readonly server: string;
  /** Credentials as they are now. Rejects where there are none to be had. */
  sign(): Promise<SignedConnection>;
  close(): void;
}

// The API server closes idle connections after 90 s; one that it closes while we send fails the request.
const IDLE_MS = 60_000;

/** Keeps connections alive over requests. Those made with credentials that were replaced are not used again. */
export function createConnections(kubeConfig: KubeConfig): Connections {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new Error('The kubeconfig names no current cluster');
  const server = cluster.server.replace(/\/+$/, '');
  const options = { keepAlive: true, timeout: IDLE_MS };
  const agent = server.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
  return {
    server,
    async sign() {
      const signed: RequestOptions = {};
      await kubeConfig.applyToHTTPSOptions(signed);
      const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = signed;
      const basic = typeof signed.auth === 'string' ? basicAuthorization(signed.auth) : {};
      return {
        headers: { ...basic, ...(signed.headers as Record<string, string> | undefined) },
        // The library makes an agent of its own each time, without keep-alive; only its proxies are of use.
        agent: cluster.proxyUrl && signed.agent instanceof HttpAgent ? signed.agent : agent,
        connection: definedOf({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }),
      };
    },
    close: () => agent.destroy(),
  };
}

function basicAuthorization(credentials: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

// A member that is there and undefined would hide the agent's default.
function definedOf<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}
