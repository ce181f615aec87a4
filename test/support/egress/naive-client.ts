import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** What a program does that trusts URLs: takes the first address of a name, and goes where answers lead. */
export async function requestNaively(
  url: string,
  resolve: (host: string) => Promise<readonly string[]>,
  redirects = 5,
): Promise<void> {
  const target = new URL(url);
  const [address] =
    isIP(target.hostname) === 0 && !target.hostname.startsWith('[') ? await resolve(target.hostname) : [];
  const request = httpRequest(target, {
    agent: false,
    ...(address === undefined ? {} : { host: address, hostname: address }),
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  const { location } = response.headers;
  if (location !== undefined && redirects > 0)
    await requestNaively(new URL(location, target).href, resolve, redirects - 1);
}
