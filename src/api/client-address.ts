import { isIP, isIPv4 } from 'node:net';

/** Where a request comes from, in the form in which addresses are counted. */
export interface ClientAddress {
  readonly address: string;
  /** Whether the proxies' list was missing, too short or malformed, so that the connection's own address stands. */
  readonly fellBack: boolean;
}

/** The first half of an IPv6 address is a network, of which the whole second half is anybody's in it. */
function networkOf(address: string): string {
  // A URL spells every address in one way; an embedded IPv4 address becomes two groups.
  const canonical = new URL(`http://[${address.split('%')[0]}]/`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const groups = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const gap = after === undefined ? 0 : 8 - groups.length - tail.length;
  const all = [...groups, ...Array<string>(gap).fill('0'), ...tail];
  if (all.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    return all
      .slice(6)
      .map((group) => parseInt(group, 16))
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  }
  return `${all.slice(0, 4).join(':')}::/64`;
}

// As Node gives the IPv4 clients of a server that listens on both.
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** An address as it is counted: IPv4 whole, also where it is mapped into IPv6; of IPv6 the /64 network. */
export function countedAddress(address: string): string {
  if (isIPv4(address)) return address;
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return isIP(address) === 6 ? networkOf(address) : 'unknown';
}

// `[2001:db8::1]:443`, `192.0.2.1:443`, or an address alone: proxies write all three.
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const address = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/**
 * The address of the client behind so many trusted proxies. Each proxy appends to the list whom it was asked by, so
 * the entry of the outermost trusted one is that many from the right; what stands left of it the client may have made
 * up. Without trusted proxies the list is not looked at.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string,
  trustedProxies: number,
): ClientAddress {
  const own = { address: countedAddress(socketAddress ?? ''), fellBack: trustedProxies > 0 };
  if (trustedProxies === 0) return own;
  const entry = forwardedFor.split(',').at(-trustedProxies);
  const address = entry === undefined ? undefined : addressIn(entry);
  return address === undefined ? own : { address: countedAddress(address), fellBack: false };
}
