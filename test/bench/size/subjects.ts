import type { AccessRule } from '../../../src/domain/access.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { followLogs, type LogFilter } from '../../../src/services/logs.ts';
import { followTokens, pageTokens, type TokenListFilter } from '../../../src/services/tokens/list.ts';
import type { Parts } from './parts.ts';
import { TENANT } from './rows.ts';

/** A request whose time is to stay the same as the tenant grows. */
export interface Subject {
  readonly name: string;
  readonly run: (parts: Parts) => Promise<unknown>;
}

const SIZE = 20;

function caller(access: Partial<Pick<Caller, 'permissions' | 'rules'>>): Caller {
  return {
    ...{ tenantId: TENANT, tenantType: 'production', quotas: DEFAULT_QUOTAS, settings: DEFAULT_SETTINGS },
    ...{ applicationId: TENANT, applicationType: 'private', keyId: TENANT, permissions: [], rules: [], ...access },
  };
}

function rule(priority: number, where: Pick<AccessRule, 'container' | 'conditions'>): AccessRule {
  return { priority, ...where, transform: 'mask', permissions: ['token:read'] };
}

const PLAIN = caller({ permissions: ['token:read', 'log:read'] });
const ONE_CONTAINER = caller({ rules: [rule(1, { container: '/pci/' })] });
const RARE_CONTAINER = caller({ rules: [rule(1, { container: '/rare/' })] });
const OVERLAPPING = caller({
  rules: [rule(1, { container: '/pci/high/eu/' }), rule(2, { container: '/pci/' }), rule(3, { container: '/bank/' })],
});
const BY_ID = caller({
  rules: [
    rule(1, { conditions: [{ attribute: 'id', operator: 'starts_with', value: 'order-99' }] }),
    rule(2, { container: '/rare/' }),
  ],
});

function page(who: Caller, number: number, filter: TokenListFilter = {}) {
  return (parts: Parts) => pageTokens(parts, who, filter, { page: number, size: SIZE });
}

function follow(who: Caller, filter: TokenListFilter = {}, start?: string) {
  return (parts: Parts) => followTokens(parts, who, filter, { size: SIZE, ...(start === undefined ? {} : { start }) });
}

function logs(filter: LogFilter = {}, start?: string) {
  return (parts: Parts) => followLogs(parts, PLAIN, filter, { size: SIZE, ...(start === undefined ? {} : { start }) });
}

/** What is asked of a tenant with so many tokens. */
export async function subjectsFor(parts: Parts, tokens: number): Promise<Subject[]> {
  const newest = Date.UTC(2026, 0, 1) + tokens * 1000;
  const deep = await parts.cursors.encode(TENANT, 'tokens', { createdAt: new Date(newest - tokens * 500), id: 'x' });
  const deepLog = await parts.cursors.encode(TENANT, 'logs', {
    createdAt: new Date(Date.now() - (23 * 3600_000 * tokens) / 2_000_000),
    id: TENANT,
  });
  const last = Math.ceil(tokens / SIZE);
  const { rows } = { rows: await parts.database.run<{ fingerprint: Buffer }>({ text: FINGERPRINT }, [TENANT]) };
  const fingerprint = rows[0]!.fingerprint.toString('base64url');
  const ids = ['order-3', 'order-103', 'order-203'];
  const subjects: Record<string, Subject['run']> = {
    'page 1, plain permission': page(PLAIN, 1),
    'page 1, one container': page(ONE_CONTAINER, 1),
    'page 1, a rare container': page(RARE_CONTAINER, 1),
    'page 1, overlapping containers': page(OVERLAPPING, 1),
    'page 1, prefix of ids and a container': page(BY_ID, 1),
    'page 1, rare metadata': page(PLAIN, 1, { metadata: { customer: '77' } }),
    'page 1, metadata of half': page(PLAIN, 1, { metadata: { channel: 'web' } }),
    'page 1, three ids': page(PLAIN, 1, { ids }),
    'middle page, plain permission': page(PLAIN, Math.ceil(last / 2)),
    'last page, plain permission': page(PLAIN, last),
    'page at half, one container': page(ONE_CONTAINER, Math.ceil(last / 2)),
    'cursor, first page': follow(PLAIN),
    'cursor, first page, one container': follow(ONE_CONTAINER),
    'cursor, first page, overlapping': follow(OVERLAPPING),
    'cursor, first page, ids and container': follow(BY_ID),
    'cursor, deep inside': follow(PLAIN, {}, deep),
    'cursor, deep inside, one container': follow(ONE_CONTAINER, {}, deep),
    'cursor, by container': follow(PLAIN, { container: '/bank/' }),
    'cursor, by rare container': follow(PLAIN, { container: '/rare/' }),
    'cursor, by type': follow(PLAIN, { type: 'card' }),
    'cursor, by rare type': follow(PLAIN, { type: 'employer_id_number' }),
    'cursor, by absent type': follow(PLAIN, { type: 'social_security_number' }),
    'cursor, by fingerprint': follow(PLAIN, { fingerprint }),
    'cursor, by rare metadata': follow(PLAIN, { metadata: { customer: '77' } }),
    'cursor, by metadata of half': follow(PLAIN, { metadata: { channel: 'web' } }),
    'logs, first page': logs(),
    'logs, deep inside': logs({}, deepLog),
    'logs, of one entity': logs({ entity_type: 'card', entity_id: '1679091c5a880faf6fb5e6087eb1b2dc' }),
    'logs, of a common type': logs({ entity_type: 'card' }),
    'logs, of a rare type': logs({ entity_type: 'application' }),
    'logs, of an absent type': logs({ entity_type: 'reactor' }),
    'logs, of one hour': logs({
      start_date: new Date(Date.now() - 5 * 3600_000).toISOString(),
      end_date: new Date(Date.now() - 4 * 3600_000).toISOString(),
    }),
  };
  return Object.entries(subjects).map(([name, run]) => ({ name, run }));
}

const FINGERPRINT = 'select fingerprint from tokens where tenant_id = $1 and fingerprint is not null limit 1';
