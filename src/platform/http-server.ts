import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { answerRefusedRequest } from './refused-requests.ts';
import type { KeyPair, ServerCertificate } from './server-certificate.ts';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The flag that sets the port, for the message when it is taken. */
  readonly portFlag: string;
  readonly listener: RequestListener;
  /** Without it, the server speaks plain HTTP. */
  readonly certificate?: ServerCertificate | undefined;
  /**
   * The only client that is let in: TLS 1.3 alone, with a certificate for clients, of an authority of `certificate.ca`,
   * whose one name is this DNS name.
   */
  readonly clientName?: string;
}

export interface HttpServer {
  /** The port that is listened on. */
  readonly port: number;
  /**
   * Goes on serving, and has each answer end its connection: once clients are sent elsewhere, none is left that still
   * uses one that `close` would cut between two requests.
   */
  drain(): void;
  /** Accepts nothing more, answers what is in flight, and after `graceMs` destroys the connections that remain. */
  close(graceMs: number): Promise<void>;
}

/** A client that sends its request slower than this holds a connection on purpose. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle timeouts of common load balancers, which else reuse a connection as it closes. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_HEADER_BYTES = 16_384;

const LIMITS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  maxHeaderSize: MAX_HEADER_BYTES,
};

/** Listens before it settles. Rejects with a message that names address and flag where the port is taken or denied. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, portFlag, listener, certificate, clientName } = options;
  let [draining, closing] = [false, false];
  const answering = new WeakMap<Duplex, ServerResponse>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (draining) response.setHeader('connection', 'close');
    answering.set(request.socket, response);
    response.once('close', () => answering.delete(request.socket));
    // A kept-alive connection turns idle only after its answer, when close() has looked for idle ones already.
    response.once('close', () => closing && setImmediate(() => server.closeIdleConnections()));
    listener(request, response);
  };
  if (clientName !== undefined && certificate?.current.ca === undefined) {
    throw new Error('clients can be told apart only by certificates of an authority');
  }
  const server =
    certificate === undefined ? createServer(LIMITS, answer) : createSecure(certificate, clientName, answer);
  server.on('clientError', (error, socket) => {
    // What is written after an answer has begun would be read as its body.
    if (answering.get(socket)?.headersSent === true) socket.destroy();
    else answerRefusedRequest(error, socket);
  });
  await listen(server, host, port, portFlag);
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      draining = true;
    },
    async close(graceMs) {
      [draining, closing] = [true, true];
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await promise;
      clearTimeout(timer);
    },
  };
}

function createSecure(
  certificate: ServerCertificate,
  clientName: string | undefined,
  answer: RequestListener,
): TlsServer {
  const isMutual = clientName !== undefined;
  const context = ({ cert, key, ca }: KeyPair): SecureContextOptions => ({
    ...{ cert, key, minVersion: isMutual ? 'TLSv1.3' : 'TLSv1.2' },
    ...(isMutual ? { ca: ca! } : {}),
  });
  const clients = isMutual ? { requestCert: true, rejectUnauthorized: true } : {};
  const server = createTlsServer({ ...LIMITS, ...clients, ...context(certificate.current) }, answer);
  if (isMutual) {
    // Before a byte of a request is read: what has come already is handed on in a later turn.
    server.on('secureConnection', (socket) => {
      if (!socket.authorized || !isNamed(socket, clientName)) socket.destroy();
    });
  }
  // Connections that stand keep the certificate that they began with.
  certificate.onChange((pair) => server.setSecureContext(context(pair)));
  return server;
}

/** Whether the other side's certificate has this DNS name and no other name. */
function isNamed(socket: TLSSocket, name: string): boolean {
  return socket.getPeerCertificate().subjectaltname === `DNS:${name}`;
}

function listen(server: Server | TlsServer, host: string, port: number, portFlag: string): Promise<void> {
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
