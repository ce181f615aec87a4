import type { Caller } from '../../../src/domain/caller.ts';
import { followLogs, type LogFilter } from '../../../src/services/logs.ts';
import { followFoundTokens, pageFoundTokens } from '../../../src/services/tokens/search.ts';
import { followTokens, pageTokens, type TokenListFilter } from '../../../src/services/tokens/list.ts';
import { CALLERS } from './callers.ts';
import type { Parts } from './parts.ts';
import { TENANT } from './rows.ts';

/** A request whose time is to stay the same as the tenant grows. */
export interface Subject {
  readonly name: string;
  readonly run: (parts: Parts) => Promise<unknown>;
}

const SIZE = 20;
const FINGERPRINT = 'select fingerprint from tokens where tenant_id = $1 and fingerprint is not null limit 1';

function page(who: Caller, number: number, filter: TokenListFilter = {}) {
  return (parts: Parts) => pageTokens(parts, who, filter, { page: number, size: SIZE });
}

function follow(who: Caller, filter: TokenListFilter = {}, start?: string) {
  return (parts: Parts) => followTokens(parts, who, filter, { size: SIZE, ...(start === undefined ? {} : { start }) });
}

function logs(filter: LogFilter = {}, start?: string) {
  return (parts: Parts) =>
    followLogs(parts, CALLERS.plain, filter, { size: SIZE, ...(start === undefined ? {} : { start }) });
}

/** Queries of searches, from those that find nothing to those that find half of the tenant. */
const QUERIES = [
  'id:order-3',
  'data:nothing',
  'type:card',
  'type:employer_id_number',
  'NOT type:card',
  'container:/rare/*',
  'container:/pci/*',
  'metadata.customer:77',
  'metadata.channel:web',
  'type:bank AND metadata.channel:app',
  'metadata.customer:77 OR container:/rare/*',
  'created_by:22222222-2222-4222-8222-222222222222',
  'created_at:[2026-01-01T00:00:00Z TO 2026-01-01T00:10:00Z]',
] as const;

function searches(): [string, Subject['run']][] {
  return QUERIES.flatMap((query): [string, Subject['run']][] => [
    [`search by page, ${query}`, (parts) => pageFoundTokens(parts, CALLERS.plain, query, { page: 1, size: SIZE })],
    [`search by cursor, ${query}`, (parts) => followFoundTokens(parts, CALLERS.oneContainer, query, { size: SIZE })],
  ]);
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
  const [stored] = await parts.database.run<{ fingerprint: Buffer }>({ text: FINGERPRINT }, [TENANT]);
  const fingerprint = stored!.fingerprint.toString('base64url');
  const ids = ['order-3', 'order-103', 'order-203'];
  const subjects: Record<string, Subject['run']> = {
    'page 1, plain permission': page(CALLERS.plain, 1),
    'page 1, one container': page(CALLERS.oneContainer, 1),
    'page 1, a rare container': page(CALLERS.rareContainer, 1),
    'page 1, overlapping containers': page(CALLERS.overlapping, 1),
    'page 1, prefix of ids and a container': page(CALLERS.byId, 1),
    'page 1, rare metadata': page(CALLERS.plain, 1, { metadata: { customer: '77' } }),
    'page 1, metadata of half': page(CALLERS.plain, 1, { metadata: { channel: 'web' } }),
    'page 1, three ids': page(CALLERS.plain, 1, { ids }),
    'middle page, plain permission': page(CALLERS.plain, Math.ceil(last / 2)),
    'last page, plain permission': page(CALLERS.plain, last),
    'page at half, one container': page(CALLERS.oneContainer, Math.ceil(last / 2)),
    'cursor, first page': follow(CALLERS.plain),
    'cursor, first page, one container': follow(CALLERS.oneContainer),
    'cursor, first page, overlapping': follow(CALLERS.overlapping),
    'cursor, first page, ids and container': follow(CALLERS.byId),
    'cursor, deep inside': follow(CALLERS.plain, {}, deep),
    'cursor, deep inside, one container': follow(CALLERS.oneContainer, {}, deep),
    'cursor, by container': follow(CALLERS.plain, { container: '/bank/' }),
    'cursor, by rare container': follow(CALLERS.plain, { container: '/rare/' }),
    'cursor, by type': follow(CALLERS.plain, { type: 'card' }),
    'cursor, by rare type': follow(CALLERS.plain, { type: 'employer_id_number' }),
    'cursor, by absent type': follow(CALLERS.plain, { type: 'social_security_number' }),
    'cursor, by fingerprint': follow(CALLERS.plain, { fingerprint }),
    'cursor, by rare metadata': follow(CALLERS.plain, { metadata: { customer: '77' } }),
    'cursor, by metadata of half': follow(CALLERS.plain, { metadata: { channel: 'web' } }),
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
  return [...Object.entries(subjects), ...searches()].map(([name, run]) => ({ name, run }));
}
