import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { ApplicationRow } from '../../src/data/applications.ts';
import type { NewApplicationKey } from '../../src/data/application-keys.ts';
import type { Queryable } from '../../src/data/database.ts';
import type { IdempotencySlot } from '../../src/data/idempotent-answers.ts';
import type { NewInvocation } from '../../src/data/invocations.ts';
import type { NewReactor } from '../../src/data/reactors.ts';
import { upsertTenant, type TenantRow } from '../../src/data/tenants.ts';
import type { NewToken } from '../../src/data/tokens.ts';
import { DEFAULT_SCALING } from '../../src/domain/declarations.ts';
import { digestOfKey, generateApplicationKey } from '../../src/domain/application-keys.ts';
import type { LogEntry } from '../../src/domain/logs.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../src/domain/tenants.ts';

/** Rows for tests: a plain one of each table, with what matters to the test put over it. */

export function newTenant(overrides: Partial<TenantRow> = {}): TenantRow {
  const id = overrides.id ?? randomUUID();
  return {
    id,
    name: id,
    type: 'test',
    quotas: DEFAULT_QUOTAS,
    settings: DEFAULT_SETTINGS,
    declared: true,
    ...overrides,
  };
}

/** Stores a tenant and gives its id. */
export async function storedTenant(queryable: Queryable, overrides: Partial<TenantRow> = {}): Promise<string> {
  const tenant = newTenant(overrides);
  await upsertTenant(queryable, tenant, []);
  return tenant.id;
}

export function newToken(tenantId: string, overrides: Partial<NewToken> = {}): NewToken {
  return {
    tenantId,
    id: randomUUID(),
    type: 'token',
    container: '/general/high/',
    data: Buffer.from('sealed data'),
    mask: null,
    metadata: {},
    searchIndexes: null,
    searchHashes: [],
    fingerprint: null,
    fingerprintExpression: null,
    expiresAt: null,
    createdBy: randomUUID(),
    createdAt: new Date(),
    cvc: null,
    ...overrides,
  };
}

export function newApplication(
  tenantId: string,
  overrides: Partial<ApplicationRow> = {},
): Omit<ApplicationRow, 'modifiedBy' | 'modifiedAt'> {
  return {
    tenantId,
    id: randomUUID(),
    name: 'checkout',
    type: 'private',
    permissions: ['token:read'],
    rules: [],
    expiresAt: null,
    declared: false,
    createdBy: null,
    createdAt: new Date(),
    ...overrides,
  };
}

export function newApplicationKey(
  tenantId: string,
  applicationId: string,
  overrides: Partial<NewApplicationKey> = {},
): NewApplicationKey {
  return {
    tenantId,
    id: randomUUID(),
    applicationId,
    digest: digestOfKey(generateApplicationKey('test', 'private')),
    expiresAt: null,
    createdBy: null,
    createdAt: new Date(),
    ...overrides,
  };
}

export function newReactor(tenantId: string, overrides: Partial<NewReactor> = {}): NewReactor {
  return {
    tenantId,
    id: randomUUID(),
    name: 'charge',
    code: Buffer.from('sealed code'),
    configuration: Buffer.from('sealed configuration'),
    applicationId: null,
    timeoutSeconds: 30,
    scaling: DEFAULT_SCALING,
    memoryBytes: 256 * 1024 * 1024,
    egress: null,
    revision: 'one',
    declared: false,
    createdBy: null,
    createdAt: new Date(),
    ...overrides,
  };
}

export function newLog(tenantId: string, entityId: string, overrides: Partial<LogEntry> = {}): LogEntry {
  return {
    id: uuidv7(),
    tenantId,
    actorId: null,
    actorType: 'application',
    entityType: 'token',
    entityId,
    operation: 'create',
    message: 'Token created',
    createdAt: new Date(),
    ...overrides,
  };
}

/** A slot of an idempotency key of the application itself. */
export function newSlot(tenantId: string, overrides: Partial<IdempotencySlot> = {}): IdempotencySlot {
  const applicationId = overrides.applicationId ?? randomUUID();
  return { tenantId, ownerId: applicationId, applicationId, keyHash: randomBytes(32), ...overrides };
}

/** An invocation that is to be run. */
export function newInvocation(tenantId: string, overrides: Partial<NewInvocation> = {}): NewInvocation {
  return {
    tenantId,
    id: randomUUID(),
    reactorId: randomUUID(),
    applicationId: randomUUID(),
    traceId: 'trace',
    args: Buffer.from('sealed arguments'),
    callbackUrl: Buffer.from('sealed URL'),
    ...overrides,
  };
}

/** Ten minutes from now, and ten minutes ago. */
export const LATER = (): Date => new Date(Date.now() + 600_000);
export const EARLIER = (): Date => new Date(Date.now() - 600_000);
