import type { Database } from '../data/database.ts';
import { changeTenant, getTenant } from '../data/tenants.ts';
import { countTokens } from '../data/token-counts.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, ViolationCollector } from '../domain/errors.ts';
import { childPath } from '../domain/json-guard.ts';
import type { Tenant, TenantSettings } from '../domain/tenants.ts';
import type { Audit } from './audit.ts';
import type { Authentication } from './authentication.ts';
import { actorOf, logEntry } from './log-entries.ts';

export interface TenantParts {
  readonly database: Database;
  readonly authentication: Authentication;
  readonly audit: Audit;
}

export interface TenantUpdate {
  name: string;
  /** By their names in the API; those that are absent stay. Clients send texts, as they get them. */
  settings?: Record<string, boolean | 'true' | 'false'>;
}

/** Settings by their names in the API. */
export const SETTINGS = {
  deduplicate_tokens: 'deduplicateTokens',
  fingerprint_tokens: 'fingerprintTokens',
} as const satisfies Record<string, keyof TenantSettings>;

function noSuchTenant(): DomainError {
  return new DomainError('not-found', 'The tenant has been deleted.');
}

/** Records settings that there are not: one that is accepted and has no effect would be relied on. */
export function checkSettingNames(settings: TenantUpdate['settings'] = {}, violations: ViolationCollector): void {
  for (const name of Object.keys(settings)) {
    if (!Object.hasOwn(SETTINGS, name)) violations.add(childPath('settings', name), 'is not a setting of a tenant');
  }
}

function changedSettings(current: TenantSettings, given: TenantUpdate['settings'] = {}): TenantSettings {
  const changed = { ...current };
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const value = given[name];
    if (value !== undefined) changed[setting] = String(value) === 'true';
  }
  return changed;
}

/** The caller's tenant. */
export async function readTenant({ database, audit }: TenantParts, caller: Caller): Promise<Tenant> {
  const tenant = await getTenant(database, caller.tenantId);
  if (tenant === undefined) throw noSuchTenant();
  await audit.record([logEntry(actorOf(caller), 'read', 'tenant', tenant.id)]);
  return tenant;
}

/**
 * Changes name and settings of the caller's tenant. Fingerprints that tokens have already stay with them when the
 * setting is turned off, until their tokens are updated.
 *
 * Throws 'invalid' also where tokens would have to be deduplicated without fingerprints.
 */
export async function updateTenant(parts: TenantParts, caller: Caller, update: TenantUpdate): Promise<Tenant> {
  const violations = new ViolationCollector();
  checkSettingNames(update.settings, violations);
  violations.throwIfAny();
  const change = (tenant: Tenant) => {
    const settings = changedSettings(tenant.settings, update.settings);
    if (settings.deduplicateTokens && !settings.fingerprintTokens) {
      violations.add(
        'settings.deduplicate_tokens',
        'must be false where fingerprint_tokens is: duplicates are found by it',
      );
    }
    violations.throwIfAny();
    return { name: update.name, settings };
  };
  const log = logEntry(actorOf(caller), 'update', 'tenant', caller.tenantId);
  const tenant = await changeTenant(parts.database, caller.tenantId, change, log);
  if (tenant === undefined) throw noSuchTenant();
  parts.authentication.forgetAll();
  return tenant;
}

/** What the caller's tenant holds now. */
export async function reportUsage({ database }: TenantParts, caller: Caller): Promise<{ totalTokens: number }> {
  return { totalTokens: await countTokens(database, { tenantId: caller.tenantId, scopes: 'all' }) };
}
