import type { RateLimitQuota } from './rate-limit-quotas.ts';

export const TENANT_TYPES = ['production', 'test'] as const;
export type TenantType = (typeof TENANT_TYPES)[number];

/** Bounds that the operator of the deployment sets for a tenant. */
export interface Quotas {
  /** Tokens that one tokenize request, or one reactor's `tokenize` output, may create. */
  tokenize: number;
  /** Tokens that one detokenize request may name. */
  detokenize: number;
  logRetentionSeconds: number;
  cvcRetentionSeconds: number;
  rateLimit: RateLimitQuota;
}

/** What a tenant's own applications may change about it. */
export interface TenantSettings {
  deduplicateTokens: boolean;
  fingerprintTokens: boolean;
}

export interface Tenant {
  id: string;
  name: string;
  type: TenantType;
  quotas: Quotas;
  settings: TenantSettings;
}

export const DEFAULT_QUOTAS: Quotas = {
  tokenize: 5,
  detokenize: 5,
  logRetentionSeconds: 24 * 3600,
  cvcRetentionSeconds: 3600,
  rateLimit: { plan: 'Default' },
};

export const DEFAULT_SETTINGS: TenantSettings = { deduplicateTokens: false, fingerprintTokens: true };
