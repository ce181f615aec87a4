import { createServer as createHttpServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A certificate with its key; PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A load balancer before a transit server, as administrators put there. */
export interface Front {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** Answers everything with this status itself; passes requests on again where it is undefined. */
  answer(status: number | undefined): void;
  /** To connections from now on; those that are open are closed. */
  present(certificate: Certificate): void;
  stop(): Promise<void>;
}

/** Listens with TLS where it has a certificate. */
export async function startFront(upstream: string, certificate?: Certificate): Promise<Front> {
  let status: number | undefined;

  function pass(received: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url } = received;
    const sent = request(new URL(url ?? '/', upstream), { ...(method === undefined ? {} : { method }), headers });
    sent.on('response', (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    sent.on('error', () => response.destroy());
    received.pipe(sent);
  }

  function listener(received: IncomingMessage, response: ServerResponse): void {
    if (status === undefined) return pass(received, response);
    received.resume();
    response.writeHead(status, { location: 'http://elsewhere.invalid/' }).end();
  }

  const server =
    certificate === undefined ? createHttpServer(listener) : createHttpsServer({ ...certificate }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    scheme: certificate === undefined ? 'http' : 'https',
    port: (server.address() as AddressInfo).port,
    answer: (given) => (status = given),
    present(presented) {
      (server as HttpsServer).setSecureContext({ ...presented });
      server.closeAllConnections();
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
