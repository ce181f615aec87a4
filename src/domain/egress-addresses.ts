import ipaddr from 'ipaddr.js';

/**
 * How an IP address may be reached from code that is not trusted.
 *
 * - `public`: a public unicast address.
 * - `named`: only where a policy names the host: private, shared (RFC 6598) and reserved ranges.
 * - `never`: this machine, its link, groups of hosts, the services of clouds that hand out credentials, and forms of
 *   IPv6 that lead to an IPv4 address behind the checker's back.
 */
export type Reach = 'public' | 'named' | 'never';

/** Blocks in CIDR notation: those `except` are within `cidr`. */
export interface AddressBlock {
  readonly cidr: string;
  readonly except: readonly string[];
}

/** Part of all addresses, in which some are reached by name only, and some never. */
interface Realm {
  readonly block: string;
  readonly named: readonly string[];
  readonly never: readonly string[];
}

const IPV4: Realm = {
  block: '0.0.0.0/0',
  // Not globally reachable (IANA's registry of special-purpose addresses), AS112 (RFC 7534, 7535) and relays.
  named: [
    ...['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24'],
    ...['192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
    ...['198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4'],
  ],
  never: [
    ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
    // Outside of link-local: metadata and credentials of Alibaba, and Azure's wire server.
    ...['100.100.100.200/32', '168.63.129.16/32'],
  ],
};

/** What is in none of these is never reached: this machine, links, groups, and most forms that stand for IPv4. */
const REALMS: readonly Realm[] = [
  IPV4,
  {
    // Allocated to hosts of the internet (RFC 4291, section 2.4; IANA has given out nothing beyond it).
    block: '2000::/3',
    named: ['2001::/23', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20'],
    // Teredo and 6to4.
    never: ['2001::/32', '2002::/16'],
  },
  {
    block: 'fc00::/7',
    named: ['fc00::/7'],
    // The ranges that AWS and Google serve metadata and credentials from over IPv6.
    never: ['fd00:ec2::/32', 'fd20:ce::/32'],
  },
  {
    // Leads to IPv4 addresses everywhere (RFC 6052). By name only: the translator stands in a network that is not public.
    block: '64:ff9b::/96',
    named: ['64:ff9b::/96'],
    never: IPV4.never.map((cidr) => translated(cidr)),
  },
];

type Network = ReturnType<typeof ipaddr.parseCIDR>;

const NETWORKS = REALMS.map(({ block, named, never }) => ({
  block: ipaddr.parseCIDR(block),
  named: named.map((cidr) => ipaddr.parseCIDR(cidr)),
  never: never.map((cidr) => ipaddr.parseCIDR(cidr)),
}));

/** The same block behind NAT64, whose last 32 bits are the IPv4 address. */
function translated(cidr: string): string {
  const [network, bits] = ipaddr.IPv4.parseCIDR(cidr);
  return `${ipaddr.IPv6.parse(`64:ff9b::${network.toString()}`).toString()}/${96 + bits}`;
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** Of an address in text. What is no address, or one with a zone (`fe80::1%eth0`), is never reached. */
export function reachOf(address: string): Reach {
  if (address.includes('%') || !ipaddr.isValid(address)) return 'never';
  const parsed = ipaddr.parse(address);
  const among = (network: Network): boolean => isWithin(parsed, network);
  const realm = NETWORKS.find(({ block }) => among(block));
  if (realm === undefined || realm.never.some(among)) return 'never';
  return realm.named.some(among) ? 'named' : 'public';
}

/** Whether an address in text is this machine's own, in the form in which sockets have it. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && !address.includes('%') && ipaddr.parse(address).range() === 'loopback';
}

/**
 * The same rule for those who judge by blocks: all that is `public`; or all that is reached at all, by whatever name.
 */
export function blocksOf(reach: 'public' | 'any'): AddressBlock[] {
  const blocks = REALMS.map(({ block, named, never }) => ({
    cidr: block,
    except: outermost(reach === 'any' ? never : [...named, ...never]),
  }));
  return blocks.filter(({ cidr, except }) => !except.includes(cidr));
}

/** Without those that lie within another. */
function outermost(cidrs: readonly string[]): string[] {
  const networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return cidrs.filter((_, index) => {
    const [address, bits] = networks[index]!;
    return !networks.some((other) => other[1] < bits && isWithin(address, other));
  });
}
