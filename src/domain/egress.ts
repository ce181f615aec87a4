import ipaddr from 'ipaddr.js';
import { reachOf } from './egress-addresses.ts';

/**
 * Where the code of a reactor may send requests.
 *
 * Without a policy: to every public unicast address, by https at port 443. With one: to exactly what it names, by http
 * or https; what is named may have a private address.
 */
export interface EgressPolicy {
  /** `host`, `host:port`, `*.example.com:443` or an IP literal with or without a port; port 443 where none is given. */
  readonly allow: readonly string[];
}

export const EGRESS_LIMITS = {
  entries: 64,
  /** A wildcard's `*.`, a name of 253 characters, a colon and five digits. */
  entryLength: 261,
} as const;

/** An entry of a policy, read. */
export interface EgressEntry {
  /** Lower case, punycode, without a dot at the end; an IP address without brackets. */
  readonly host: string;
  readonly kind: 'host' | 'below' | 'address';
  readonly port: number;
}

export interface EgressFault {
  readonly index: number;
  readonly entry: string;
  /** Reads after the entry ("must …"). */
  readonly fault: string;
}

/** Why a request may not be made at all, whatever address the host has. */
export type EgressRefusal = 'scheme' | 'host' | 'port';

export interface EgressTarget {
  readonly protocol: 'http:' | 'https:';
  /** Lower case, punycode, without a dot at the end; an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface EgressRules {
  /** The test that every address of the target has to pass, or why there is none that could. */
  admit(target: EgressTarget): ((address: string) => boolean) | EgressRefusal;
}

const HTTPS_PORT = 443;
const ENTRY = /^(?<below>\*\.)?(?<host>\[[0-9a-f:.]+\]|[^\s/\\@?#%:*[\]]+)(?::(?<port>\d{1,5}))?$/iu;

const MAX_NAME_LENGTH = 253;
/** Letters, digits, hyphens and, for names inside a network, underscores; or the colons of an IPv6 address. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*|[0-9a-f:.]+)$/;

/** An entry of a policy, or what is wrong with it. */
export function parseEgressEntry(text: string): EgressEntry | string {
  if (text.length > EGRESS_LIMITS.entryLength) return `must have at most ${EGRESS_LIMITS.entryLength} characters`;
  const groups = ENTRY.exec(text)?.groups;
  if (groups === undefined)
    return 'must be a host, `host:port`, `*.example.com:443` or an IP address, as `[2001:db8::1]:443`';
  const { below, port: portText = String(HTTPS_PORT) } = groups;
  const port = Number(portText);
  if (port < 1 || port > 65_535 || portText.startsWith('0')) return 'must have a port from 1 to 65535';
  const host = hostOf(groups['host']!);
  if (host === undefined) return 'must have the name of a host';
  if (ipaddr.isValid(host))
    return below === undefined ? addressEntry(groups['host']!, host, port) : 'must be a name below `*.`';
  if (host === 'localhost' || host.endsWith('.localhost')) return 'must not name this machine';
  if (below !== undefined && !host.includes('.')) return 'must name two labels or more below `*.`';
  return { host, kind: below === undefined ? 'host' : 'below', port };
}

/** As a URL would have it: names in other scripts become punycode. Undefined for what cannot be a host. */
function hostOf(text: string): string | undefined {
  const hostname = URL.parse(`https://${text}/`)?.hostname.replace(/^\[(.*)\]$/, '$1');
  const host = hostname?.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return host !== undefined && host.length <= MAX_NAME_LENGTH && HOST.test(host) ? host : undefined;
}

function addressEntry(text: string, host: string, port: number): EgressEntry | string {
  // A URL reads `0x7f.1` as an address too: what stands in a policy should say what it means.
  if (!text.startsWith('[') && text !== host) return `must be written as ${host}`;
  if (reachOf(host) === 'never') return 'must not name an address that is never reached';
  return { host, kind: 'address', port };
}

/** Everything that is wrong with the entries; a policy is to be stored only without any. */
export function egressFaults({ allow }: EgressPolicy): EgressFault[] {
  return allow.flatMap((entry, index) => {
    const parsed = parseEgressEntry(entry);
    return typeof parsed === 'string' ? [{ index, entry, fault: parsed }] : [];
  });
}

/** The entries of a policy that has no faults. */
export function egressEntries({ allow }: EgressPolicy): EgressEntry[] {
  return allow.map(parseEgressEntry).filter((entry) => typeof entry !== 'string');
}

function entryText({ host, kind, port }: EgressEntry): string {
  const shown = kind === 'below' ? `*.${host}` : host.includes(':') ? `[${host}]` : host;
  return `${shown}:${port}`;
}

/** The same policy in the one form that all its spellings have: normal hosts, ports given, in order, each once. */
export function normalEgress(policy: EgressPolicy): EgressPolicy {
  return { allow: [...new Set(egressEntries(policy).map(entryText))].sort() };
}

function matchesHost(entry: EgressEntry, host: string): boolean {
  return entry.kind === 'below' ? host.endsWith(`.${entry.host}`) : host === entry.host;
}

const PUBLIC_ONLY: EgressRules = {
  admit({ protocol, port }) {
    if (protocol !== 'https:') return 'scheme';
    return port === HTTPS_PORT ? (address) => reachOf(address) === 'public' : 'port';
  },
};

export function egressRules(policy: EgressPolicy | undefined): EgressRules {
  if (policy === undefined) return PUBLIC_ONLY;
  const entries = egressEntries(policy);
  return {
    admit({ host, port }) {
      const named = entries.filter((entry) => matchesHost(entry, host));
      if (named.length === 0) return 'host';
      return named.some((entry) => entry.port === port) ? (address) => reachOf(address) !== 'never' : 'port';
    },
  };
}
