import { admittedAddresses } from './addresses.ts';
import { decompressed } from './decompress.ts';
import { EgressError } from './errors.ts';
import { checkMethodAndHeaders } from './headers.ts';
import { noRoom, sendHop } from './hop.ts';
import type { HopAnswer } from './hop.ts';
import { locationOf, redirected } from './redirects.ts';
import type { Asked } from './redirects.ts';
import { nameOf, parseUrl, targetOf } from './target.ts';
import type { EgressAnswer, EgressClient, EgressOptions, EgressRequest } from './types.ts';

const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * Sends requests to the outside on behalf of somebody who is not trusted with our network.
 *
 * Every hop is checked for itself: its URL, host and port against the rules, and each address that its name has. The
 * connection is made to those addresses alone, whatever the name says a moment later; TLS verifies the name.
 */
export function createEgressClient(options: EgressOptions): EgressClient {
  return { request: (request) => send(options, request) };
}

async function send(options: EgressOptions, request: EgressRequest): Promise<EgressAnswer> {
  checkMethodAndHeaders(request.method, request.headers);
  const deadline = new AbortController();
  const late = new EgressError('timed-out', `No answer came within ${request.timeoutMs} ms`);
  const timer = setTimeout(() => deadline.abort(late), request.timeoutMs);
  const abort = (): void => deadline.abort(new EgressError('aborted', 'The request was broken off'));
  request.signal?.addEventListener('abort', abort, { once: true });
  if (request.signal?.aborted) abort();
  try {
    return await follow(options, request, deadline.signal);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', abort);
  }
}

async function follow(options: EgressOptions, request: EgressRequest, signal: AbortSignal): Promise<EgressAnswer> {
  const { method, headers, body, redirect } = request;
  let asked: Asked = { url: parseUrl(request.url), method: method.toUpperCase(), headers, body };
  for (let hops = 0; ; hops += 1) {
    const answer = await sendOne(options, asked, signal, request.hold).catch((error: unknown) => {
      if (!(error instanceof EgressError) || hops === 0) throw error;
      throw new EgressError(error.rule, error.message, true);
    });
    const location = redirect === 'manual' ? undefined : locationOf(answer);
    if (location === undefined) return { url: asked.url.href, redirected: hops > 0, ...answer };
    if (redirect === 'error') throw new EgressError('redirect', 'The answer leads elsewhere', true);
    if (hops === MAX_REDIRECTS) throw new EgressError('redirect', `More than ${MAX_REDIRECTS} answers lead on`, true);
    asked = redirected(asked, answer.status, location);
  }
}

async function sendOne(
  options: EgressOptions,
  asked: Asked,
  signal: AbortSignal,
  hold: EgressRequest['hold'],
): Promise<HopAnswer> {
  const { maxBytes = MAX_BYTES, ca } = options;
  const target = targetOf(asked.url);
  const addresses = await orAborted(admittedAddresses(options, target), signal);
  const headers = asked.headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding');
  const answer = await sendHop({
    ...{ target, addresses, maxBytes, hold, ca, signal, method: asked.method, body: asked.body },
    path: `${asked.url.pathname}${asked.url.search}`,
    headers: [...headers, ['accept-encoding', 'identity']],
  });
  const plain = await decompressed(answer, maxBytes, nameOf(target));
  if (plain !== answer && hold?.(plain.body.length) === false) throw noRoom(nameOf(target));
  return plain;
}

/** The system's look-up cannot be broken off: what it finds in the end is not used. */
async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as EgressError);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
