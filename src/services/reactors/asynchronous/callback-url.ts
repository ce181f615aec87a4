import { isIP } from 'node:net';
import { egressRules, type EgressRules, type EgressTarget } from '../../../domain/egress.ts';
import { isLoopback, reachOf } from '../../../domain/egress-addresses.ts';
import { EgressError, type EgressRule } from '../../../platform/egress/errors.ts';
import { parseUrl, targetOf } from '../../../platform/egress/target.ts';

const LONGEST_URL = 2_000;

/** A host name or IP address, alone or with a port, as in `receiver.internal:8080`. */
export interface CallbackHosts {
  /** Where results may go over plain HTTP, at other ports than 443, and to addresses that are not public. */
  readonly httpHosts: readonly string[];
}

const PUBLIC = egressRules(undefined);

/** Read after the field's name. Rules that look at a name's addresses or at answers refuse nothing here. */
const FAULTS: Partial<Record<EgressRule, string>> = {
  url: 'must be an absolute URL',
  scheme: 'must begin with https://',
  userinfo: 'must hold no user name and no password',
  port: 'must have no port but 443',
  address: 'must lead to a public address',
};

/** Whether the deployer has named the host, with the port or for every port. */
function isNamed({ host, port }: EgressTarget, { httpHosts }: CallbackHosts): boolean {
  const shown = host.includes(':') ? `[${host}]` : host;
  return httpHosts.some((name) => name === shown || name === `${shown}:${port}`);
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host);
}

/**
 * Where results are sent: to public addresses by https, at the port of https; and to hosts that the deployer has named,
 * which may have private addresses, as what a policy of egress names may. This machine's own are reached only where
 * they are named as such: a name that leads there, or to the metadata of a cloud, may be another's doing.
 */
export function callbackRules(hosts: CallbackHosts): EgressRules {
  return {
    admit(target) {
      if (!isNamed(target, hosts)) return PUBLIC.admit(target);
      const maySendHere = isThisMachine(target.host);
      return (address) => (maySendHere && isLoopback(address)) || reachOf(address) !== 'never';
    },
  };
}

/**
 * Why results can never be sent to this URL, reading after the field's name; undefined where they might. Which
 * addresses a name stands for is decided each time that something is sent, by the same rules.
 */
export function faultOfCallbackUrl(text: string, hosts: CallbackHosts): string | undefined {
  if (text.length > LONGEST_URL) return `must be at most ${LONGEST_URL} characters long`;
  const rule = brokenRule(text, hosts);
  if (rule !== undefined) return FAULTS[rule] ?? FAULTS.url;
  return new URL(text).hash === '' ? undefined : 'must have no fragment';
}

function brokenRule(text: string, hosts: CallbackHosts): EgressRule | undefined {
  try {
    const target = targetOf(parseUrl(text));
    const admits = callbackRules(hosts).admit(target);
    if (typeof admits === 'string') return admits;
    if (isIP(target.host) !== 0) return admits(target.host) ? undefined : 'address';
    return isThisMachine(target.host) && !isNamed(target, hosts) ? 'address' : undefined;
  } catch (error) {
    if (error instanceof EgressError) return error.rule;
    throw error;
  }
}
