import { createServer } from 'node:http';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerRefusedRequest } from './refused-requests.ts';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The flag that sets the port, for the message when it is taken. */
  readonly portFlag: string;
  readonly listener: RequestListener;
}

export interface HttpServer {
  /** The port that is listened on. */
  readonly port: number;
  /** Accepts nothing more, answers what is in flight, and after `graceMs` destroys the connections that remain. */
  close(graceMs: number): Promise<void>;
}

/** A client that sends its request slower than this holds a connection on purpose. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle timeouts of common load balancers, which else reuse a connection as it closes. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_HEADER_BYTES = 16_384;

/** Listens before it settles. Rejects with a message that names address and flag where the port is taken or denied. */
export async function startHttpServer({ host, port, portFlag, listener }: HttpServerOptions): Promise<HttpServer> {
  let closing = false;
  const answering = new WeakMap<Duplex, ServerResponse>();
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request, response) => {
      if (closing) response.setHeader('connection', 'close');
      answering.set(request.socket, response);
      response.once('close', () => answering.delete(request.socket));
      // A kept-alive connection turns idle only after its answer, when close() has looked for idle ones already.
      response.once('close', () => closing && setImmediate(() => server.closeIdleConnections()));
      listener(request, response);
    },
  );
  server.on('clientError', (error, socket) => {
    // What is written after an answer has begun would be read as its body.
    if (answering.get(socket)?.headersSent === true) socket.destroy();
    else answerRefusedRequest(error, socket);
  });
  await listen(server, host, port, portFlag);
  return {
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      closing = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await promise;
      clearTimeout(timer);
    },
  };
}

function listen(server: Server, host: string, port: number, portFlag: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port, portFlag));
  server.once('error', fail);
  server.listen({ host, port }, () => {
    server.off('error', fail);
    resolve();
  });
  return promise;
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number, portFlag: string): Error {
  const address = `${host}:${port}`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `${address} is in use by another program`,
    EACCES: `this user may not listen on ${address}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine`,
    ENOTFOUND: `${host} does not resolve to an address`,
  };
  const reason = reasons[error.code ?? ''] ?? `cannot listen on ${address} (${error.code ?? error.message})`;
  const flag = error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? '--host' : portFlag;
  return new Error(`${reason}; choose another with ${flag}`, { cause: error });
}
