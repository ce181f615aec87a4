import { request as httpRequest } from 'node:http';
import type { Agent, IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface ExchangeRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Of the whole exchange, in ms. */
  timeoutMs: number;
  maxBytes: number;
  agent?: Agent;
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
  let sent = false;
  const request = send(options.url, {
    method: options.method,
    headers: { ...options.headers, ...length },
    ...(options.agent ? { agent: options.agent } : {}),
  });
  const fail = (cause?: unknown, timedOut = false): void => {
    clearTimeout(timer);
    reject(cause instanceof ExchangeError ? cause : new ExchangeError(sent, timedOut, cause));
    request.destroy();
  };
  const timer = setTimeout(() => fail(undefined, true), options.timeoutMs);
  request.on('socket', (socket) => {
    if (socket.connecting) socket.once('connect', () => (sent = true));
    else sent = true;
  });
  request.on('error', fail);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > options.maxBytes) fail(new AnswerTooLarge());
      else chunks.push(chunk);
    });
    response.on('error', fail);
    response.on('end', () => {
      clearTimeout(timer);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
    });
  });
  request.end(body);
  return promise;
}
