import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isLoopback, reachOf } from '../domain/egress-addresses.ts';
import { SettingFault } from './setting.ts';

/** How the text of a setting becomes its value. Each throws a SettingFault for a text that it does not accept. */

/** 0 means any free port. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) throw new SettingFault('must be a port number from 0 (any free port) to 65535');
  return port;
}

export function parseHost(text: string): string {
  if (!/^[\w.:%-]+$/.test(text)) throw new SettingFault('must be a host name or an IP address to listen on');
  return text;
}

export function parseOneOf<T extends string>(allowed: readonly T[]): (text: string) => T {
  return (text) => {
    const value = allowed.find((candidate) => candidate === text);
    if (value === undefined) throw new SettingFault(`must be one of ${allowed.join(', ')}`);
    return value;
  };
}

/** A whole number of seconds. */
export function parseSeconds(least: number, most: number): (text: string) => number {
  return (text) => {
    const seconds = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
    if (!(seconds >= least && seconds <= most)) {
      throw new SettingFault(`must be a whole number of seconds from ${least} to ${most}`);
    }
    return seconds;
  };
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A whole number and its unit, such as `30s`, `15m`, `12h` or `90d`, in milliseconds; more than nothing. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const duration = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(duration > 0)) throw new SettingFault('must be a duration such as 30s, 15m, 12h or 90d');
  return duration;
}

/** Comma-separated, the preferred one first; in upper case. */
export function parseHeaderPrefixes(text: string): readonly string[] {
  const prefixes = text.split(',').map((prefix) => prefix.trim().toUpperCase());
  if (!prefixes.every((prefix) => /^[A-Z][A-Z0-9]*$/.test(prefix))) {
    throw new SettingFault('must be comma-separated prefixes of letters and digits, such as SVC,BT');
  }
  if (new Set(prefixes).size < prefixes.length) throw new SettingFault('must name each prefix once');
  return Object.freeze(prefixes);
}

// A browser sends origins in one spelling only, and is answered by comparison.
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Comma-separated origins in the browsers' spelling, or `*` alone. Messages hold nothing of a URL, as below. */
export function parseOrigins(text: string): readonly string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  if (text.trim() !== '*' && !origins.every(isOrigin)) {
    const form = 'in lower case, without a path or the scheme’s own port';
    throw new SettingFault(`must be * or comma-separated origins such as https://shop.example, ${form}`);
  }
  if (new Set(origins).size < origins.length) throw new SettingFault('must name each origin once');
  return Object.freeze(origins);
}

/** Comma-separated `host` or `host:port`, as URLs write them: in lower case, IPv6 addresses in brackets. */
export function parseHostList(text: string): readonly string[] {
  const hosts = text.split(',').map((host) => host.trim());
  if (!hosts.every((host) => /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/.test(host))) {
    throw new SettingFault('must be comma-separated hosts such as receiver or receiver.internal:8080, in lower case');
  }
  if (new Set(hosts).size < hosts.length) throw new SettingFault('must name each host once');
  for (const host of hosts) {
    const address = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    if (isIP(address) !== 0 && !isLoopback(address) && reachOf(address) === 'never') {
      throw new SettingFault(`must not name ${address}, an address that nothing is sent to`);
    }
  }
  return Object.freeze(hosts);
}

/** A URL that is a scheme, a host and a port alone. */
export function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new SettingFault('must be a URL such as https://tokenkeep.example');
  }
  if (`${url.origin}/` !== url.href) throw new SettingFault('must be a scheme, a host and a port alone');
  return url.origin;
}

/** The absolute path of a folder that is there. */
export function parseExistingFolder(text: string): string {
  if (kindOfPath(text) !== 'folder') throw new SettingFault(`must be a folder; ${text || 'nothing'} is not one`);
  return resolve(text);
}

/** The absolute path of a folder that is there, or that can be made. */
export function parseFolder(text: string): string {
  if (kindOfPath(text) === 'other') throw new SettingFault(`must be a folder; ${text || 'nothing'} is not one`);
  return resolve(text);
}

/** Messages hold nothing of the URL: its password may stand anywhere in a URL that is written wrongly. */
export function parsePostgresUrl(text: string): string {
  if (!URL.canParse(text)) throw new SettingFault('must be a URL such as postgres://user:password@host:5432/database');
  const url = new URL(text);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    throw new SettingFault('must begin with postgres:// or postgresql://');
  }
  if (url.pathname.length < 2) throw new SettingFault('must name a database, as in postgres://host/database');
  return text;
}

/** Messages hold nothing of the URL, as above. */
export function parseRedisUrl(text: string): string {
  const example = 'rediss://user:password@host:6379';
  if (!URL.canParse(text)) throw new SettingFault(`must be a URL such as ${example}`);
  const url = new URL(text);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    throw new SettingFault('must begin with redis:// or, for TLS, rediss://');
  }
  if (url.hostname === '') throw new SettingFault(`must name a host, as in ${example}`);
  if (!/^(?:\/\d*)?$/.test(url.pathname)) throw new SettingFault('may have no path but the number of a database');
  return text;
}

/** The absolute path of a file that is there. */
export function parseExistingFile(text: string): string {
  if (!existsAsFile(text)) throw new SettingFault(`must be a file; ${text || 'nothing'} is not one`);
  return resolve(text);
}

function existsAsFile(path: string): boolean {
  return path !== '' && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function kindOfPath(path: string): 'folder' | 'missing' | 'other' {
  if (path === '') return 'other';
  try {
    return statSync(path).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'other';
  }
}
