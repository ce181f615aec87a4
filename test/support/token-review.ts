import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The one call of the Kubernetes API by which Vault checks a service account's token. */
export interface TokenReviews {
  /** Of the API. */
  readonly address: string;
  /** A new token of this service account, which it then knows. */
  issue(namespace: string, name: string): string;
  /** As for a pod that was deleted. */
  forget(token: string): void;
  close(): Promise<void>;
}

const AUDIENCE = 'https://kubernetes.default.svc';

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startTokenReviews(): Promise<TokenReviews> {
  const accounts = new Map<string, { username: string; uid: string; namespace: string }>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { spec } = JSON.parse(body) as { spec: { token: string; audiences?: string[] } };
      const account = accounts.get(spec.token);
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${account?.namespace}`, 'system:authenticated'];
      const { username, uid } = account ?? {};
      const { audiences = [AUDIENCE] } = spec;
      const authenticated = account !== undefined;
      const status = authenticated ? { authenticated, audiences, user: { username, uid, groups } } : { authenticated };
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    issue(namespace, name) {
      const uid = randomUUID();
      const username = `system:serviceaccount:${namespace}:${name}`;
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: AUDIENCE,
        ...{ sub: username, aud: [AUDIENCE], iat: now, exp: now + 3600, jti: randomUUID() },
        'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      };
      // Nobody but the API looks at the signature, and it knows its tokens as they are.
      const token = [base64url({ alg: 'RS256', kid: 'test' }), base64url(claims), 'c2lnbmF0dXJl'].join('.');
      accounts.set(token, { username, uid, namespace });
      return token;
    },
    forget: (token) => void accounts.delete(token),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
