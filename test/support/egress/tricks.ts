import type { EgressRule } from '../../../src/platform/egress/errors.ts';
import type { EgressRequest } from '../../../src/platform/egress/types.ts';
import type { Answer } from './dns-server.ts';

/** An attempt to reach what must not be reached. In its URL, PORT stands for the port that everything listens at. */
export interface Trick {
  what: string;
  url: string;
  /** The rule that stops it. */
  rule: EgressRule;
  /** Without rules, it reaches a listener of this machine: only then does it say something that none was reached. */
  lands?: true;
  request?: Partial<Pick<EgressRequest, 'method' | 'headers' | 'redirect'>>;
  /** Requests that reach `good.test`, which is allowed, before it is stopped. Default: none. */
  hops?: number;
}

const URL_FORM = {
  '127.0.0.1 in short': ['127.1', 'lands'],
  '127.0.0.1 in decimal': ['2130706433', 'lands'],
  '127.0.0.1 in hexadecimal': ['0x7f000001', 'lands'],
  '127.0.0.1 in octal': ['017700000001', 'lands'],
  '127.0.0.1 with a hexadecimal part': ['0x7f.1', 'lands'],
  '127.0.0.1 with octal parts': ['0177.0.0.01', 'lands'],
  '127.0.0.1 itself': ['127.0.0.1', 'lands'],
  '127.0.0.1 with a trailing dot': ['127.0.0.1.', 'lands'],
  '127.0.0.1 in percent-encoding': ['%31%32%37%2e0%2e0%2e1', 'lands'],
  '127.0.0.1 in circled digits': ['①②⑦.⓪.⓪.①', 'lands'],
  '127.0.0.1 in full-width digits': ['１２７.０.０.１', 'lands'],
  '127.0.0.1 with ideographic full stops': ['127。0。0｡1', 'lands'],
  'another loopback address': ['127.0.0.3', 'lands'],
  'the last loopback address': ['127.255.255.254', 'lands'],
  '0.0.0.0': ['0.0.0.0', 'lands'],
  '0.0.0.0 in short': ['0', 'lands'],
  'another address of this network': ['0.1.2.3'],
  localhost: ['localhost', 'lands'],
  'localhost in capitals': ['LOCALHOST', 'lands'],
  'localhost with a trailing dot': ['localhost.'],
  'localhost in percent-encoding': ['%6c%6f%63alhost', 'lands'],
  'localhost in full-width letters': ['ｌｏｃａｌｈｏｓｔ', 'lands'],
  '::1': ['[::1]', 'lands'],
  '::1 written out': ['[0:0:0:0:0:0:0:1]', 'lands'],
  '::': ['[::]', 'lands'],
  'mapped 127.0.0.1': ['[::ffff:127.0.0.1]', 'lands'],
  'mapped 127.0.0.1 in hexadecimal': ['[::ffff:7f00:1]', 'lands'],
  'mapped 169.254.169.254': ['[::ffff:169.254.169.254]'],
  'mapped 10.0.0.1': ['[::ffff:a00:1]'],
  'mapped public address': ['[::ffff:8.8.8.8]'],
  'compatible 127.0.0.1': ['[::127.0.0.1]'],
  'translated 127.0.0.1 (RFC 6145)': ['[::ffff:0:127.0.0.1]'],
  'NAT64 of 127.0.0.1': ['[64:ff9b::7f00:1]'],
  'NAT64 of the metadata address': ['[64:ff9b::169.254.169.254]'],
  'NAT64 of a public address': ['[64:ff9b::808:808]'],
  'local NAT64 of 127.0.0.1': ['[64:ff9b:1::7f00:1]'],
  '6to4 of 127.0.0.1': ['[2002:7f00:1::]'],
  '6to4 of a public address': ['[2002:808:808::1]'],
  'Teredo with 127.0.0.1': ['[2001:0:7f00:1::]'],
  'ISATAP of 127.0.0.1': ['[fe80::5efe:7f00:1]'],
  'link-local IPv6': ['[fe80::1]'],
  'site-local IPv6': ['[fec0::1]'],
  'unique local IPv6': ['[fd12:3456::1]'],
  'discard-only IPv6': ['[100::1]'],
  'documentation IPv6': ['[2001:db8::1]'],
  'benchmarking IPv6': ['[2001:2::1]'],
  'segment routing IPv6': ['[5f00::1]'],
  'multicast IPv6': ['[ff02::1]'],
  'a private network, 10/8': ['10.0.0.1'],
  'a private network, 172.16/12': ['172.31.255.254'],
  'a private network, 192.168/16': ['192.168.0.1'],
  'shared address space': ['100.64.0.1'],
  'metadata of most clouds': ['169.254.169.254'],
  'metadata of most clouds in decimal': ['2852039166'],
  'credentials of containers on AWS': ['169.254.170.2'],
  'metadata of AWS over IPv6': ['[fd00:ec2::254]'],
  'metadata of Google over IPv6': ['[fd20:ce::254]'],
  'wire server of Azure': ['168.63.129.16'],
  'metadata of Alibaba': ['100.100.100.200'],
  'metadata of Oracle, of old': ['192.0.0.192'],
  'benchmarking network': ['198.18.0.1'],
  'documentation networks': ['203.0.113.7'],
  '6to4 relays': ['192.88.99.1'],
  multicast: ['224.0.0.1'],
  'reserved addresses': ['240.0.0.1'],
  broadcast: ['255.255.255.255'],
} as const satisfies Record<string, readonly [string] | readonly [string, 'lands']>;

const literals = Object.entries(URL_FORM).map(([what, [host, lands]]): Trick => ({
  what,
  url: `http://${host}:PORT/`,
  rule: 'address',
  ...(lands ? { lands: true } : {}),
}));

/** What the name server says. `good.test` is the one that the machine's own option lets through, at 127.0.0.2 alone. */
export const ZONE: Record<string, readonly Answer[]> = {
  'good.test': [['127.0.0.2']],
  'loopback.test': [['127.0.0.1']],
  'loopback6.test': [['::1']],
  'mapped.test': [['::ffff:127.0.0.1']],
  'nat64.test': [['64:ff9b::7f00:1']],
  'unspecified.test': [['0.0.0.0']],
  'private.test': [['10.0.0.1']],
  'unique-local.test': [['fd12:3456::1']],
  'link-local.test': [['169.254.1.1']],
  'link-local6.test': [['fe80::1']],
  'metadata.google.internal': [['169.254.169.254']],
  'metadata6.test': [['fd00:ec2::254']],
  'multicast.test': [['224.0.0.251']],
  'public-and-loopback.test': [['8.8.8.8', '127.0.0.1']],
  'loopback-and-public.test': [['127.0.0.1', '8.8.8.8']],
  'public4-loopback6.test': [['8.8.8.8', '::1']],
  'good-and-loopback.test': [['127.0.0.2', '127.0.0.1']],
  'chain.test': [{ cname: 'chain-two.test' }],
  'chain-two.test': [{ cname: 'loopback.test' }],
  'many.test': [Array.from({ length: 24 }, (_, index) => `8.8.8.${index}`).concat('127.0.0.1')],
  'rebinding.test': [['127.0.0.2'], ['127.0.0.1']],
};

const NAMES = {
  'a name for 127.0.0.1': ['loopback.test', 'lands'],
  'a name for 127.0.0.1, in capitals and with a dot': ['LOOPBACK.Test.', 'lands'],
  'a name with an IPv6 address alone': ['loopback6.test', 'lands'],
  'a name for a mapped address': ['mapped.test', 'lands'],
  'a name for a NAT64 address': ['nat64.test'],
  'a name for 0.0.0.0': ['unspecified.test', 'lands'],
  'a name in a private network': ['private.test'],
  'a name with a unique local address': ['unique-local.test'],
  'a name on the link': ['link-local.test'],
  'a name on the link by IPv6': ['link-local6.test'],
  'the name of metadata on Google': ['metadata.google.internal'],
  'a name for metadata over IPv6': ['metadata6.test'],
  'a name for multicast': ['multicast.test'],
  'a public address before one of this machine': ['public-and-loopback.test'],
  'an address of this machine before a public one': ['loopback-and-public.test', 'lands'],
  'a public IPv4 address beside an IPv6 one of this machine': ['public4-loopback6.test'],
  'an allowed address beside one of this machine': ['good-and-loopback.test'],
  'a chain of aliases': ['chain.test', 'lands'],
  'many public addresses before one of this machine': ['many.test'],
} as const satisfies Record<string, readonly [string] | readonly [string, 'lands']>;

const names = Object.entries(NAMES).map(([what, [host, lands]]): Trick => ({
  what,
  url: `http://${host}:PORT/`,
  rule: 'address',
  ...(lands ? { lands: true } : {}),
}));

const urls: Trick[] = [
  { what: 'a good name as the user', url: 'http://good.test@127.0.0.1:PORT/', rule: 'userinfo', lands: true },
  {
    what: 'a good name and port as user and password',
    url: 'http://good.test:80@127.0.0.1:PORT/',
    rule: 'userinfo',
    lands: true,
  },
  { what: 'a user at a good name', url: 'http://user:secret@good.test:PORT/', rule: 'userinfo' },
  { what: 'a good name in the fragment', url: 'http://127.0.0.1:PORT#@good.test/', rule: 'address', lands: true },
  { what: 'a good name in the query', url: 'http://127.0.0.1:PORT?@good.test/', rule: 'address', lands: true },
  { what: 'a backslash before a good name', url: 'http://127.0.0.1:PORT\\@good.test/', rule: 'url', lands: true },
  { what: 'backslashes for slashes', url: 'http:\\\\127.0.0.1:PORT\\', rule: 'url', lands: true },
  { what: 'a tab in the host', url: 'http://127.0.\t0.1:PORT/', rule: 'url', lands: true },
  { what: 'a line break in the host', url: 'http://127.0.\r\n0.1:PORT/', rule: 'url', lands: true },
  { what: 'a line break in the scheme', url: 'ht\ntp://127.0.0.1:PORT/', rule: 'url', lands: true },
  { what: 'a line break in the path', url: 'http://good.test:PORT/ HTTP/1.1\r\nx: y', rule: 'url' },
  { what: 'a control character in front', url: '\u0001http://127.0.0.1:PORT/', rule: 'url', lands: true },
  { what: 'too few slashes', url: 'http:127.0.0.1:PORT/', rule: 'address', lands: true },
  { what: 'too many slashes', url: 'http:////127.0.0.1:PORT/', rule: 'address', lands: true },
  { what: 'a host without a scheme', url: '//127.0.0.1:PORT/', rule: 'url' },
  { what: 'an IPv6 zone', url: 'http://[::1%25lo]:PORT/', rule: 'url' },
  { what: 'an IPv6 zone on the link', url: 'http://[fe80::1%eth0]:PORT/', rule: 'url' },
  { what: 'a NUL in the host', url: 'http://127.0.0.1%00.good.test:PORT/', rule: 'url' },
  { what: 'an empty label', url: 'http://good..test:PORT/', rule: 'url' },
  { what: 'two trailing dots', url: 'http://good.test..:PORT/', rule: 'url' },
  { what: 'a port out of range', url: 'http://good.test:65536/', rule: 'url' },
  { what: 'a name that is not there', url: 'http://nowhere.test:PORT/', rule: 'unresolved' },
  { what: 'a URL longer than any', url: `http://good.test:PORT/${'a'.repeat(20_000)}`, rule: 'url' },
  ...[
    'file:///etc/passwd',
    'ftp://127.0.0.1:PORT/',
    'gopher://127.0.0.1:PORT/_GET',
    'ws://127.0.0.1:PORT/',
    'wss://127.0.0.1:PORT/',
    'data:text/plain,hello',
    'blob:http://127.0.0.1:PORT/1',
    'javascript:fetch()',
    'dict://127.0.0.1:PORT/info',
    'unix:/var/run/docker.sock',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/info',
  ].map((url): Trick => ({ what: `another scheme: ${url.slice(0, url.indexOf(':'))}`, url, rule: 'scheme' })),
  { what: 'a socket for a host', url: 'http://unix:/var/run/docker.sock:/info', rule: 'unresolved' },
];

const to = (status: number, location: string): string =>
  `http://good.test:PORT/to?status=${status}&location=${encodeURIComponent(location)}`;
const LOOPBACK = 'http://127.0.0.1:PORT/';

const redirects: Trick[] = [
  ...[301, 302, 303, 307, 308].map((status): Trick => ({
    what: `a ${status} to this machine`,
    url: to(status, LOOPBACK),
    rule: 'address',
    hops: 1,
    lands: true,
  })),
  ...(
    [
      ['the metadata address', 'http://169.254.169.254/latest/meta-data/', 'address'],
      ['a file', 'file:///etc/passwd', 'scheme'],
      ['data', 'data:text/plain,hello', 'scheme'],
      ['another scheme', 'gopher://127.0.0.1:PORT/_', 'scheme'],
      ['a host of its own scheme', '//127.0.0.1:PORT/', 'address'],
      ['a host by backslashes', '\\\\127.0.0.1:PORT\\', 'url'],
      ['a name for this machine', 'http://loopback.test:PORT/', 'address'],
      ['a user', 'http://good.test@127.0.0.1:PORT/', 'userinfo'],
      ['::1', 'http://[::1]:PORT/', 'address'],
      ['a decimal address', 'http://2130706433:PORT/', 'address'],
    ] as const
  ).map(([what, location, rule]): Trick => ({ what: `a redirect to ${what}`, url: to(302, location), rule, hops: 1 })),
  {
    what: 'a redirect to a redirect to this machine',
    url: to(302, to(307, LOOPBACK)),
    rule: 'address',
    hops: 2,
    lands: true,
  },
  {
    what: 'a chain of six redirects',
    url: Array.from({ length: 6 }).reduce<string>((inner) => to(302, inner), 'http://good.test:PORT/'),
    rule: 'redirect',
    hops: 6,
  },
  {
    what: 'a redirect to two places',
    url: `${to(302, 'http://good.test:PORT/')}&location=${encodeURIComponent(LOOPBACK)}`,
    rule: 'redirect',
    hops: 1,
  },
  {
    what: 'a redirect where none is followed',
    url: to(302, LOOPBACK),
    rule: 'redirect',
    hops: 1,
    request: { redirect: 'error' },
  },
];

const header = (what: string, name: string, value: string): Trick => ({
  what,
  url: 'http://good.test:PORT/',
  rule: 'header',
  request: { headers: [[name, value]] },
});

const messages: Trick[] = [
  header('a line break in a header', 'x-a', 'b\r\nhost: 127.0.0.1'),
  header('a line break in the name of a header', 'x-a\r\nhost', '127.0.0.1'),
  header('another host', 'Host', 'metadata.google.internal'),
  header('a length that is not so', 'Content-Length', '100'),
  header('chunks', 'Transfer-Encoding', 'chunked'),
  header('another protocol', 'Upgrade', 'h2c'),
  header('headers to be dropped on the way', 'Connection', 'close, x-forwarded-for'),
  header('trailers', 'Trailer', 'x-a'),
  header('a password for a proxy', 'Proxy-Authorization', 'Basic eA=='),
  { what: 'a tunnel', url: 'http://good.test:PORT/', rule: 'method', request: { method: 'CONNECT' } },
  { what: 'a method that echoes', url: 'http://good.test:PORT/', rule: 'method', request: { method: 'trace' } },
  {
    what: 'a line break in the method',
    url: 'http://good.test:PORT/',
    rule: 'method',
    request: { method: 'GET / HTTP/1.1\r\nx:' },
  },
];

export const TRICKS: readonly Trick[] = [...literals, ...names, ...urls, ...redirects, ...messages];

/** Whether the trick needs IPv6 to land. */
export function isOfIPv6({ url }: Trick): boolean {
  return /\[(?!::ffff)[0-9a-f:]+\]|loopback6/.test(url);
}

/** The trick for a listener's port, also where it stands inside a URL in a query. */
export function atPort(trick: Trick, port: number): Trick {
  return { ...trick, url: trick.url.replaceAll('PORT', String(port)) };
}
