import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { EgressError } from './errors.ts';
import type { Headers } from './headers.ts';
import { nameOf } from './target.ts';
import type { EgressRequest, EgressTarget } from './types.ts';

/** One request to addresses that are already decided on. */
export interface Hop {
  target: EgressTarget;
  addresses: readonly string[];
  /** With the query. */
  path: string;
  method: string;
  headers: Headers;
  body: Buffer | undefined;
  maxBytes: number;
  hold: EgressRequest['hold'];
  ca: string | Buffer | undefined;
  /** Its reason is the EgressError to fail with. */
  signal: AbortSignal;
}

export interface HopAnswer {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  /** As it came. */
  body: Buffer;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Resolves nothing: gives the connection the addresses that were checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, done) => {
    if (options.all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  };
}

/** A connection of its own for each request, from an agent without the proxies that the environment may name. */
function open({ target, addresses, path, method, headers, body, ca, signal }: Hop): ClientRequest {
  const { protocol, host, port } = target;
  const shared = { method, host, port, path, lookup: pinned(addresses), signal };
  const request =
    protocol === 'http:'
      ? httpRequest({ ...shared, agent: new HttpAgent() })
      : httpsRequest({
          ...shared,
          agent: new HttpsAgent(),
          // The name that was asked for, never an address that it has.
          servername: isIP(host) === 0 ? host : '',
          rejectUnauthorized: true,
          ...(ca === undefined ? {} : { ca }),
        });
  for (const [name, value] of headers) request.appendHeader(name, value);
  // Node leaves it out for some methods, and what came after would be read as another request.
  if (body) request.setHeader('content-length', body.length);
  return request;
}

/** Sends the request and takes the whole answer. Rejects with an EgressError. */
export function sendHop(hop: Hop): Promise<HopAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HopAnswer>();
  const name = nameOf(hop.target);
  const request = open(hop);
  let sent = false;
  const fail = (error: EgressError): void => {
    clearTimeout(connecting);
    reject(error);
    request.destroy();
  };
  const connecting = setTimeout(
    () => fail(new EgressError('timed-out', `${name} took no connection in time`)),
    CONNECT_TIMEOUT_MS,
  );
  request.once('socket', (socket) => {
    socket.once(hop.target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(connecting);
      sent = true;
    });
  });
  request.once('error', (error) => {
    if (hop.signal.aborted) fail(brokenOff(hop.signal.reason, sent));
    else fail(failureOf(error, name, sent));
  });
  // Nothing that we send asks for another protocol.
  request.once('upgrade', () => fail(new EgressError('answer', `${name} did not answer in HTTP`, true)));
  request.once('response', (response) => {
    readBody(response, hop, name).then(
      (body) => {
        clearTimeout(connecting);
        resolve({
          status: response.statusCode ?? 0,
          statusText: response.statusMessage ?? '',
          headers: headersOf(response),
          body,
        });
      },
      (error: EgressError) => fail(hop.signal.aborted ? brokenOff(hop.signal.reason, true) : error),
    );
  });
  request.end(hop.body);
  return promise;
}

function brokenOff(reason: unknown, sent: boolean): EgressError {
  const { rule, message } = reason as EgressError;
  return new EgressError(rule, message, sent);
}

/** What Node says of a connection may hold the address: it is not passed on. */
function failureOf(error: NodeJS.ErrnoException, name: string, sent: boolean): EgressError {
  const { code = '' } = error;
  if (code.startsWith('HPE_')) return new EgressError('answer', `${name} did not answer in HTTP`, true);
  if (/^(ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_)|_CERT/.test(code)) {
    return new EgressError('certificate', `${name} has no certificate that holds for it`);
  }
  return new EgressError('unreachable', sent ? `${name} broke the connection off` : `${name} cannot be reached`, sent);
}

/** For an answer that is longer than any may be. */
export function tooLarge(name: string, maxBytes: number): EgressError {
  return new EgressError('too-large', `The answer of ${name} has over ${maxBytes} bytes`, true);
}

/** For an answer that whoever asked does not take in whole. */
export function noRoom(name: string): EgressError {
  return new EgressError('too-large', `There is no room for the answer of ${name} beside what else is under way`, true);
}

async function readBody(response: IncomingMessage, { maxBytes, hold }: Hop, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isHeld = true;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      isHeld = hold?.(chunk.length) ?? true;
      if (bytes > maxBytes || !isHeld) break;
      chunks.push(chunk);
    }
  } catch {
    throw new EgressError('unreachable', `${name} broke the connection off`, true);
  }
  if (!isHeld) throw noRoom(name);
  if (bytes > maxBytes) throw tooLarge(name, maxBytes);
  return Buffer.concat(chunks);
}

function headersOf({ rawHeaders }: IncomingMessage): [name: string, value: string][] {
  const headers: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push([rawHeaders[index]!.toLowerCase(), rawHeaders[index + 1]!]);
  }
  return headers;
}
