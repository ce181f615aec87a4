import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { EgressError } from './errors.ts';
import { nameOf } from './target.ts';
import type { EgressOptions, EgressTarget } from './types.ts';

/** A name with more of them is not one that anybody means to call. */
const MAX_ADDRESSES = 64;

export async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);
}

/**
 * The addresses that a connection to the target may be made to, all of them checked: one that is not allowed spoils the
 * others, because who controls the name controls which one is taken. Names are resolved here and nowhere else, once
 * for each hop.
 */
export async function admittedAddresses(
  { rules, resolve = resolveBySystem, allowAddress }: EgressOptions,
  target: EgressTarget,
): Promise<string[]> {
  const { host, port } = target;
  const admits = rules.admit(target);
  if (admits === 'scheme') throw new EgressError('scheme', `${nameOf(target)} may only be called by https`);
  if (admits === 'host') throw new EgressError('host', `${host} is not one of the hosts that may be called`);
  if (admits === 'port') throw new EgressError('port', `${host} may not be called at port ${port}`);

  const addresses = isIP(host) === 0 ? await resolved(resolve, host) : [host];
  const allowed = addresses.every(
    (address) => isIP(address) !== 0 && (allowAddress?.(address, host, port) === true || admits(address)),
  );
  if (!allowed) throw new EgressError('address', `${host} has no address that may be called`);
  return addresses;
}

async function resolved(resolve: (host: string) => Promise<readonly string[]>, host: string): Promise<string[]> {
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0 || addresses.length > MAX_ADDRESSES) {
    throw new EgressError('unresolved', `${host} has no address that may be called`);
  }
  return [...addresses];
}
