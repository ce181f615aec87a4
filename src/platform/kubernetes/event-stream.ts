import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { SignedConnection } from './connection.ts';

// An object may have 1.5 MB in etcd, and more in JSON.
const LONGEST_LINE = 16 * 1024 * 1024;
const LONGEST_BEGINNING = 64 * 1024;

export interface OpenedStream {
  status: number;
  headers: IncomingMessage['headers'];
  body: IncomingMessage;
}

/** Begins a GET whose answer has no end of its own. Rejects where its head takes longer than `timeoutMs`. */
export function openStream(
  url: string,
  { headers, agent, connection }: SignedConnection,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<OpenedStream> {
  const { promise, resolve, reject } = Promise.withResolvers<OpenedStream>();
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = send(url, { headers, agent, ...connection, signal });
  const timer = setTimeout(() => request.destroy(new StreamTimedOut()), timeoutMs);
  request.on('error', reject);
  request.on('close', () => clearTimeout(timer));
  request.on('response', (body) => {
    clearTimeout(timer);
    resolve({ status: body.statusCode ?? 0, headers: body.headers, body });
  });
  request.end();
  return promise;
}

export class StreamTimedOut extends Error {}

/** A line is longer than any object can be. */
export class LineTooLong extends Error {}

/** The lines of a stream; the last one counts only if it is ended. */
export async function* linesOf(body: IncomingMessage): AsyncGenerator<string> {
  body.setEncoding('utf8');
  let rest = '';
  for await (const chunk of body as AsyncIterable<string>) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new LineTooLong();
    yield* parts.filter((line) => line !== '');
  }
  if (rest !== '') throw new SyntaxError('a line without an end');
}

/** The beginning of a body, at most 64 KiB. Rejects where it takes longer than `timeoutMs`. */
export async function readBeginning(body: IncomingMessage, timeoutMs: number): Promise<string> {
  const timer = setTimeout(() => body.destroy(new StreamTimedOut()), timeoutMs);
  body.setEncoding('utf8');
  let read = '';
  try {
    for await (const chunk of body as AsyncIterable<string>) {
      read += chunk;
      if (read.length > LONGEST_BEGINNING) break;
    }
  } finally {
    clearTimeout(timer);
  }
  return read.slice(0, LONGEST_BEGINNING);
}
