import { request as httpRequest } from 'node:http';
import type { Agent, IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { TLSSocket } from 'node:tls';

export interface ExchangeRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Of the whole exchange, in ms. */
  timeoutMs: number;
  maxBytes: number;
  /** Asked before so many more bytes of the answer are kept; false: an AnswerTooLarge. */
  hold?: (bytes: number) => boolean;
  agent?: Agent;
  /** Whom to trust, and as whom to connect. */
  connection?: Pick<
    RequestOptions,
    'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername' | 'minVersion'
  >;
  /** Breaks the exchange off. */
  signal?: AbortSignal;
  /**
   * Holds the body back until the other side has said that it is there to take it (`Expect: 100-continue`, RFC 9110,
   * 10.1.1), at the price of a round trip. A connection that dies as it is used, or was dead already, then leaves no
   * doubt: without its body, a request is not acted on.
   */
  confirmed?: boolean;
  /** Longest wait for the other side to be there, in ms; with `confirmed` alone. Default: `timeoutMs`. */
  takeMs?: number;
}

export interface ExchangeAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** No whole answer came. */
export class ExchangeError extends Error {
  /** The other side may have begun to act. */
  readonly sent: boolean;
  readonly timedOut: boolean;

  constructor(sent: boolean, timedOut: boolean, cause?: unknown) {
    super('the HTTP exchange failed', { cause });
    this.sent = sent;
    this.timedOut = timedOut;
  }
}

/** An answer came that is larger than was asked for. */
export class AnswerTooLarge extends ExchangeError {
  constructor() {
    super(true, false);
  }
}

/** One request and its whole answer, in text. Follows no redirect. Rejects with an ExchangeError. */
export function exchange(options: ExchangeRequest): Promise<ExchangeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ExchangeAnswer>();
  const send = options.url.startsWith('https:') ? httpsRequest : httpRequest;
  const body = options.body === undefined ? undefined : Buffer.from(options.body);
  const length: Record<string, string> = body ? { 'content-length': String(body.length) } : {};
  const isConfirmed = options.confirmed === true && body !== undefined;
  let sent = false;
  const request = send(options.url, {
    method: options.method,
    headers: { ...options.headers, ...length, ...(isConfirmed ? { expect: '100-continue' } : {}) },
    ...(options.agent ? { agent: options.agent } : {}),
    ...options.connection,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const fail = (cause?: unknown, timedOut = false): void => {
    clearTimeout(timer);
    clearTimeout(taking);
    reject(cause instanceof ExchangeError ? cause : new ExchangeError(sent, timedOut, cause));
    request.destroy();
  };
  const timer = setTimeout(() => fail(undefined, true), options.timeoutMs);
  const taking = isConfirmed ? setTimeout(() => fail(undefined, true), options.takeMs ?? options.timeoutMs) : undefined;
  if (isConfirmed) {
    request.once('continue', () => {
      clearTimeout(taking);
      sent = true;
      request.end(body);
    });
  } else {
    request.end(body);
  }
  request.on('socket', (socket) => {
    if (isConfirmed) return;
    // Over TLS, nothing of the request leaves before the other side has shown who it is.
    if (socket.connecting) socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => (sent = true));
    else sent = true;
  });
  request.on('error', fail);
  request.on('response', (response) => {
    clearTimeout(taking);
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > options.maxBytes || options.hold?.(chunk.length) === false) fail(new AnswerTooLarge());
      else chunks.push(chunk);
    });
    response.on('error', fail);
    response.on('end', () => {
      clearTimeout(timer);
      // It was answered without its body, which the connection is still due.
      if (isConfirmed && !sent) request.destroy();
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
    });
  });
  return promise;
}
