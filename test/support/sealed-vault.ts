import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DEFAULT_SCALING } from '../../src/domain/declarations.ts';
import { randomDigits } from './canary.ts';
import { plantedCanary } from './run-canaries.ts';
import { readSealed, SEALED_COLUMNS, type SealedColumnName, writeSealed } from './sealed-columns.ts';
import type { Answer, TestVault } from './vault.ts';

/** A tenant with two of everything that is sealed; ids of tokens and reactors are the same in each such tenant. */
export interface SealedTenant {
  readonly tenantId: string;
  /** Of a private application that may do everything. */
  readonly key: string;
  /** Of a management application. */
  readonly adminKey: string;
  /** Of one whose answers are kept under idempotency keys. */
  readonly creator: { readonly id: string; readonly key: string };
  /** The claims of its two kept answers. */
  readonly claims: readonly string[];
  /** Of what signs its callbacks: the current one, and the one that it replaced. */
  readonly secretIds: readonly string[];
}

export const TOKEN_IDS = ['card-1', 'card-2'] as const;
export const REACTOR_IDS = [randomUUID(), randomUUID()] as const;
export const IDEMPOTENCY_KEYS = ['first', 'second'] as const;

export const reactorCode = (text: string): string => `module.exports = async () => ({ raw: '${text}' });`;

export function newCard(): { number: string; cvc: string } {
  return { number: plantedCanary('card of a sealed token'), cvc: randomDigits(3) };
}

/** Sends the request whose answer is kept under an idempotency key. */
export function sendKeyed(vault: TestVault, { key }: SealedTenant['creator'], idempotencyKey: string): Promise<Answer> {
  const headers = { 'svc-idempotency-key': idempotencyKey };
  return vault.request('POST', '/tokens', { key, headers, body: { type: 'token', data: 1 } });
}

export async function claimsOf(vault: TestVault, ownerId: string): Promise<string[]> {
  const rows = await vault.database.run<{ claim: string }>(
    { text: 'select claim from idempotent_answers where owner_id = $1 order by expires_at' },
    [ownerId],
  );
  return rows.map(({ claim }) => claim);
}

export async function sealedTenant(vault: TestVault): Promise<SealedTenant> {
  const tenantId = await vault.tenant();
  const operations = ['create', 'read', 'update', 'delete', 'search', 'use'] as const;
  const permissions = operations.map((operation) => `token:${operation}` as const);
  const reveal = { description: 'All', priority: 1, container: '/', transform: 'reveal', permissions } as const;
  const { key } = await vault.application({ tenantId, rules: [{ ...reveal, permissions }] });
  const { key: adminKey } = await vault.application({ tenantId, type: 'management' });
  const creator = await vault.application({ tenantId, permissions: ['token:create'] });
  for (const id of TOKEN_IDS) {
    const body = { id, type: 'card', data: newCard(), mask: '{{ data.number | last4 }}' };
    expect((await vault.request('POST', '/tokens', { key, body })).status).to.equal(201);
  }
  for (const [index, id] of REACTOR_IDS.entries()) {
    const declaration = {
      ...{ name: `reactor ${index}`, code: reactorCode(`${index}`), configuration: { A: `${index}` } },
      ...{ timeoutSeconds: 30, scaling: DEFAULT_SCALING, memoryBytes: 256 * 2 ** 20 },
    };
    const { status, body } = await vault.internal('PUT', `/tenants/${tenantId}/reactors/${id}`, declaration);
    expect(status, JSON.stringify(body)).to.equal(200);
  }
  for (const name of IDEMPOTENCY_KEYS) expect((await sendKeyed(vault, creator, name)).status).to.equal(201);
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/rotate'],
  ] as const) {
    const { status } = await vault.request(method, `/tenants/self/webhook-secret${path}`, { key: adminKey });
    expect(status).to.equal(200);
  }
  const secrets = await vault.database.run<{ id: string }>(
    { text: 'select secret_id as id from webhook_secrets where tenant_id = $1 order by expires_at nulls first' },
    [tenantId],
  );
  const secretIds = secrets.map(({ id }) => id);
  return { tenantId, key, adminKey, creator, claims: await claimsOf(vault, creator.id), secretIds };
}

/** Looks at what a column of the first row of its table holds, as a caller does. */
export function readThrough(vault: TestVault, name: SealedColumnName, tenant: SealedTenant): Promise<Answer> {
  const { table } = SEALED_COLUMNS[name];
  if (table === 'idempotent_answers') return sendKeyed(vault, tenant.creator, IDEMPOTENCY_KEYS[0]);
  if (table === 'webhook_secrets') {
    return vault.request('GET', '/tenants/self/webhook-secret', { key: tenant.adminKey });
  }
  if (table === 'reactors') return vault.request('GET', `/reactors/${REACTOR_IDS[0]}`, { key: tenant.adminKey });
  return vault.request('GET', `/tokens/${TOKEN_IDS[0]}`, { key: tenant.key });
}

/** The status with which a damaged value of the column is refused. */
export const refusalOf = (name: SealedColumnName): number => (name === 'answer' ? 409 : 422);

export function rowIdOf(name: SealedColumnName, tenant: SealedTenant, row: 0 | 1 = 0): string {
  const { table } = SEALED_COLUMNS[name];
  if (table === 'idempotent_answers') return tenant.claims[row]!;
  if (table === 'webhook_secrets') return tenant.secretIds[row]!;
  return table === 'reactors' ? REACTOR_IDS[row] : TOKEN_IDS[row];
}

export function sealedIn(vault: TestVault, name: SealedColumnName, tenant: SealedTenant, row: 0 | 1 = 0) {
  return readSealed(vault.database, SEALED_COLUMNS[name], tenant.tenantId, rowIdOf(name, tenant, row));
}

export function putSealed(vault: TestVault, name: SealedColumnName, tenant: SealedTenant, sealed: Buffer) {
  const { tenantId } = tenant;
  return writeSealed(vault.database, SEALED_COLUMNS[name], { tenantId, id: rowIdOf(name, tenant), sealed });
}
