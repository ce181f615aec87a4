import type { ApplicationType } from './applications.ts';
import type { CustomCounter, CustomRateLimit, LimitedResource, RateLimitQuota } from './rate-limit-quotas.ts';
import type { TenantType } from './tenants.ts';

/** What is counted apart: each address, each key, or each pair of the two. */
export type CounterKind = 'ip' | 'key' | 'ip-and-key';

/** So many requests within any window of so long. The conditions that are given must all hold for a row to apply. */
export interface RateLimitRow {
  /** Names the row in metrics and in the RateLimit headers. */
  readonly name: string;
  readonly resource?: LimitedResource;
  readonly tenantType?: TenantType;
  readonly applicationType?: ApplicationType;
  readonly legacyKey?: true;
  /** Each is a counter of its own, with the whole rate. */
  readonly counters: readonly CounterKind[];
  readonly requests: number;
  readonly windowSeconds: number;
  /** How long every request is refused once one was too many; absent: until the window has room. */
  readonly blockSeconds?: number;
}

/** Holds for every request, whoever sends it, and before its key is looked at. */
export const ALL_REQUESTS: RateLimitRow = {
  name: 'all-requests',
  counters: ['ip'],
  requests: 2000,
  windowSeconds: 10,
  blockSeconds: 30,
};

/**
 * How many calls the code of a reactor may make in one invocation, those that are refused counted. They are not counted
 * on an address: theirs is that of the instance, which others share who have no part in them.
 */
export const CALLS_PER_INVOCATION = 1000;

/** The rows of the specification that hold for requests with a good key (interface, section 8.1). */
export const DEFAULT_ROWS: readonly RateLimitRow[] = [
  { name: 'test-tenant', tenantType: 'test', counters: ['ip-and-key'], requests: 50, windowSeconds: 10 },
  { name: 'search-tokens', resource: 'SearchTokens', counters: ['ip-and-key'], requests: 50, windowSeconds: 10 },
  { name: 'list-tokens', resource: 'ListTokens', counters: ['ip-and-key'], requests: 100, windowSeconds: 10 },
  { name: 'create-tokens', resource: 'CreateTokens', counters: ['ip-and-key'], requests: 200, windowSeconds: 10 },
  { name: 'update-tokens', resource: 'UpdateTokens', counters: ['ip-and-key'], requests: 200, windowSeconds: 10 },
  { name: 'delete-tokens', resource: 'DeleteTokens', counters: ['ip-and-key'], requests: 200, windowSeconds: 10 },
  { name: 'account-updater', resource: 'AccountUpdater', counters: ['ip-and-key'], requests: 10, windowSeconds: 10 },
  { name: 'private', applicationType: 'private', counters: ['key', 'ip'], requests: 2000, windowSeconds: 10 },
  {
    name: 'public',
    applicationType: 'public',
    counters: ['ip-and-key'],
    requests: 50,
    windowSeconds: 60,
    blockSeconds: 10,
  },
  {
    name: 'management',
    applicationType: 'management',
    counters: ['key'],
    requests: 200,
    windowSeconds: 60,
    blockSeconds: 60,
  },
  { name: 'legacy-key', legacyKey: true, counters: ['ip-and-key'], requests: 100, windowSeconds: 60 },
];

/** One thing that requests are counted on. */
export interface RateCounter {
  readonly row: RateLimitRow;
  readonly kind: CounterKind;
  /** The same for the requests that are counted together. Holds the address: it belongs in no log. */
  readonly id: string;
}

/** What decides on which counters a request with a good key is counted. */
export interface LimitedRequest {
  readonly method: string;
  /** The path of the route: `/tokens/{id}`. */
  readonly routePath: string;
  /** Absent for a call of a reactor, which is counted on its application's key wherever its instance runs. */
  readonly address?: string;
  readonly keyId: string;
  /** Whether the key carries neither `_prod_` nor `_test_`. */
  readonly legacyKey: boolean;
  readonly tenantId: string;
  readonly tenantType: TenantType;
  readonly applicationType: ApplicationType;
  readonly quota: RateLimitQuota;
}

const RESOURCES: Readonly<Record<string, LimitedResource>> = {
  'POST /tokens/search': 'SearchTokens',
  'POST /v2/tokens/search': 'SearchTokens',
  'GET /tokens': 'ListTokens',
  'GET /v2/tokens': 'ListTokens',
  'POST /tokens': 'CreateTokens',
  'POST /tokenize': 'CreateTokens',
  'PATCH /tokens/{id}': 'UpdateTokens',
  'DELETE /tokens/{id}': 'DeleteTokens',
};

function resourceOf(method: string, routePath: string): LimitedResource | undefined {
  if (/^\/account-updater(\/|$)/.test(routePath)) return 'AccountUpdater';
  // Routes that take GET take HEAD with it.
  return RESOURCES[`${method === 'HEAD' ? 'GET' : method} ${routePath}`];
}

const CUSTOM_KINDS = { Key: 'key', IP: 'ip', KeyAndIP: 'ip-and-key' } as const satisfies Record<
  CustomCounter,
  CounterKind
>;

function rowOf({ counter, action: _, ...custom }: CustomRateLimit): RateLimitRow {
  return { ...custom, counters: [CUSTOM_KINDS[counter]] };
}

function applies(row: RateLimitRow, request: LimitedRequest, resource: LimitedResource | undefined): boolean {
  return (
    (row.resource === undefined || row.resource === resource) &&
    (row.tenantType === undefined || row.tenantType === request.tenantType) &&
    (row.applicationType === undefined || row.applicationType === request.applicationType) &&
    (row.legacyKey === undefined || request.legacyKey)
  );
}

function subjectOf(kind: CounterKind, { address, keyId }: LimitedRequest): string | undefined {
  if (kind === 'ip') return address;
  return kind === 'key' || address === undefined ? keyId : `${address}/${keyId}`;
}

/** On what a request is counted before anything is known of it but where it comes from. */
export function addressCounters(address: string): readonly RateCounter[] {
  return [{ row: ALL_REQUESTS, kind: 'ip', id: `${ALL_REQUESTS.name}/ip/${address}` }];
}

/** On what a request with a good key is counted besides, each of which may refuse it. */
export function callerCounters(request: LimitedRequest): readonly RateCounter[] {
  const { quota } = request;
  if (quota.plan === 'Unlimited') return [];
  const resource = resourceOf(request.method, request.routePath);
  const rows = quota.plan === 'Custom' ? quota.rows.map(rowOf) : DEFAULT_ROWS;
  // An address that several tenants share is one counter of the specification's rows, and one each of their own.
  const scope = quota.plan === 'Custom' ? `${request.tenantId}/` : '';
  return rows
    .filter((row) => applies(row, request, resource))
    .flatMap((row) =>
      row.counters.flatMap((kind) => {
        const subject = subjectOf(kind, request);
        return subject === undefined ? [] : [{ row, kind, id: `${scope}${row.name}/${kind}/${subject}` }];
      }),
    );
}

/** How a counter stands after a request. */
export interface CounterState {
  readonly row: RateLimitRow;
  readonly refused: boolean;
  /** Requests that it would let through now. */
  readonly remaining: number;
  /** Until it lets through one more than now. */
  readonly waitMs: number;
}

function rate({ row }: CounterState): number {
  return row.requests / row.windowSeconds;
}

/**
 * The state that a client should go by: the one with the lowest rate; among equal rates the one with the least left,
 * which will be the first to refuse.
 */
export function lowestRate(states: readonly CounterState[]): CounterState | undefined {
  return states.reduce<CounterState | undefined>((lowest, state) => {
    if (lowest === undefined) return state;
    const difference = rate(state) - rate(lowest) || state.remaining - lowest.remaining;
    return difference < 0 ? state : lowest;
  }, undefined);
}

/** Of the states that refuse a request, the one that refuses longest. */
export function longestRefusal(states: readonly CounterState[]): CounterState | undefined {
  return states
    .filter(({ refused }) => refused)
    .reduce<CounterState | undefined>((longest, state) => {
      return longest === undefined || state.waitMs > longest.waitMs ? state : longest;
    }, undefined);
}
