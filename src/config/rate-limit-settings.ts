import { SettingFault, type Settings } from './setting.ts';
import { parseOneOf, parseRedisUrl } from './values.ts';

/** How the rate limits of the API are counted. */
export interface RateLimitConfig {
  /** Counters are in memory where it is undefined. May hold a password. */
  readonly redisUrl: string | undefined;
  /** How many proxies in front of the API append to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  /** Whether requests are counted by their address alone. */
  readonly ipRateLimits: boolean;
}

const MAX_PROXIES = 10;

function parseTrustedProxies(text: string): number {
  const proxies = /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  if (!(proxies <= MAX_PROXIES)) throw new SettingFault(`must be a number of proxies from 0 to ${MAX_PROXIES}`);
  return proxies;
}

export const rateLimitSettings: Settings<RateLimitConfig> = {
  redisUrl: {
    flag: 'redis-url',
    mayBeInFile: true,
    placeholder: 'URL',
    description: 'a Redis or Valkey that shares the counters of rate limits among replicas; in memory without one',
    fallback: { value: undefined },
    parse: parseRedisUrl,
  },
  trustedProxies: {
    flag: 'trusted-proxies',
    placeholder: 'N',
    description: 'proxies in front of the API whose X-Forwarded-For names the client',
    fallback: { text: '0' },
    parse: parseTrustedProxies,
  },
  ipRateLimits: {
    flag: 'ip-rate-limits',
    placeholder: 'on|off',
    description: 'whether rate limits count an address by itself; off where many clients share one',
    fallback: { text: 'on' },
    parse: (text) => parseOneOf(['on', 'off'])(text) === 'on',
  },
};
