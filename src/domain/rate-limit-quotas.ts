import type { ApplicationType } from './applications.ts';

/** Groups of operations that rows of rate limits speak of (interface, section 8.1). */
export const LIMITED_RESOURCES = [
  'SearchTokens',
  'ListTokens',
  'CreateTokens',
  'UpdateTokens',
  'DeleteTokens',
  'AccountUpdater',
] as const;
export type LimitedResource = (typeof LIMITED_RESOURCES)[number];

/** What a row of a tenant's own counts apart: each key, each address, or each key at each address. */
export const CUSTOM_COUNTERS = ['Key', 'IP', 'KeyAndIP'] as const;
export type CustomCounter = (typeof CUSTOM_COUNTERS)[number];

/** `Throttle` refuses until the window has room, `Block` refuses everything for `blockSeconds`. */
export const RATE_LIMIT_ACTIONS = ['Throttle', 'Block'] as const;
export type RateLimitAction = (typeof RATE_LIMIT_ACTIONS)[number];

/** A row of a tenant's own rate limits. */
export interface CustomRateLimit {
  /** Names the row in the RateLimit headers; unique in its tenant. */
  name: string;
  /** Absent: every operation. */
  resource?: LimitedResource;
  /** Absent: applications of every type. */
  applicationType?: ApplicationType;
  counter: CustomCounter;
  /** Allowed within any `windowSeconds`. */
  requests: number;
  windowSeconds: number;
  action: RateLimitAction;
  /** With `Block` only. */
  blockSeconds?: number;
}

export const RATE_LIMIT_PLANS = ['Default', 'Unlimited', 'Custom'] as const;

/**
 * Which rows hold for the requests of a tenant's applications: those of the specification, none, or its own in their
 * place. What one address may send in all is bounded whatever the plan.
 */
export type RateLimitQuota =
  { plan: 'Default' } | { plan: 'Unlimited' } | { plan: 'Custom'; rows: readonly CustomRateLimit[] };
