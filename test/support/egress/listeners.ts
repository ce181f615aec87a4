import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import type { AddressInfo } from 'node:net';

/** Every address of the machine at one port, with what connected to which of them. */
export interface Listeners {
  port: number;
  /** The address that each connection was made to. */
  connections: string[];
  /** Method, path and headers of each request. */
  requests: IncomingMessage[];
  forget(): void;
  stop(): Promise<void>;
}

/** `/to?status=…&location=…` leads on; everything else goes to `respond`, by default an answer of `hello`. */
export async function startListeners(
  respond: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('hello'),
): Promise<Listeners> {
  const listeners: Pick<Listeners, 'connections' | 'requests'> = { connections: [], requests: [] };
  const server = createServer((request, response) => {
    listeners.requests.push(request);
    const { pathname, searchParams } = new URL(request.url!, 'http://listener');
    const status = searchParams.get('status');
    if (pathname !== '/to' || status === null) return respond(request, response);
    response.statusCode = Number(status);
    response.setHeader('location', searchParams.getAll('location')).end('elsewhere');
  });
  server.on('connection', ({ localAddress = '' }) => listeners.connections.push(localAddress.replace('::ffff:', '')));
  server.listen({ host: hasIPv6() ? '::' : '0.0.0.0', port: 0 });
  await once(server, 'listening');
  return {
    ...listeners,
    port: (server.address() as AddressInfo).port,
    forget() {
      listeners.connections.length = 0;
      listeners.requests.length = 0;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'));
}

/** Addresses of this machine that other machines may know it by, without those of a link. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
    .map(({ address }) => address);
}
