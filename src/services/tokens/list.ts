import type { Queryable } from '../../data/database.ts';
import type { ListedToken } from '../../data/listed-tokens.ts';
import { listTokens as listRows, pageOfTokens, pageOfTokensInTurn } from '../../data/token-lists.ts';
import type { TokenFilter } from '../../data/token-filters.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { isContainer, normalizeContainer } from '../../domain/containers.ts';
import { invalid } from '../../domain/errors.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { type Cursors, cutPage } from '../cursors.ts';
import { actorOf } from '../log-entries.ts';
import type { BroadReadParts } from './broad-reads.ts';
import type { PageParts } from './large-pages.ts';
import { scopesOf } from './scopes.ts';
import { pageLogEntries, showPage } from './show-page.ts';
import { parseFingerprint } from './vault.ts';

/** What narrows a list, as a caller sends it. */
export interface TokenListFilter {
  ids?: string[];
  metadata?: Record<string, string>;
  container?: string;
  type?: string;
  fingerprint?: string;
}

const ADVICE = 'ask for an entry that fewer tokens have, or for id besides';

function containerOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const container = normalizeContainer(text);
  if (!isContainer(container)) throw invalid('container', 'must be a path such as /pci/high/');
  return container;
}

/** Undefined where nothing can match. */
function rowFilter(caller: Caller, filter: TokenListFilter): TokenFilter | undefined {
  const fingerprint = filter.fingerprint === undefined ? undefined : parseFingerprint(filter.fingerprint);
  if (filter.fingerprint !== undefined && fingerprint === undefined) return undefined;
  return {
    tenantId: caller.tenantId,
    scopes: scopesOf(caller, 'token:read'),
    ids: filter.ids,
    metadata: filter.metadata,
    container: containerOf(filter.container),
    type: filter.type,
    fingerprint,
  };
}

/** Of all filters, metadata alone can make a list read far more tokens than it shows. */
function isBroad({ metadata }: TokenFilter): boolean {
  return metadata !== undefined;
}

function readBroadly<Result>(
  parts: BroadReadParts,
  { tenantId }: TokenFilter,
  signal: AbortSignal | undefined,
  read: (on: Queryable) => Promise<Result>,
): Promise<Result> {
  return parts.broadReads.run({ tenantId, property: 'metadata', advice: ADVICE, signal }, read);
}

async function show(
  parts: PageParts,
  caller: Caller,
  listed: readonly ListedToken[],
  signal: AbortSignal | undefined,
): Promise<ShownToken[]> {
  const actor = actorOf(caller);
  // The scopes of the query are those of the same grants, so that every token has a transform, save for a large one
  // that has been moved since.
  const shown = await showPage(parts, listed, (token) => decideAccess(caller, 'token:read', token), signal);
  await parts.audit.record(pageLogEntries(actor, 'read', listed, shown));
  return shown;
}

/**
 * One numbered page, newest first, with the number of tokens that the caller may read. By metadata, throws 'invalid'
 * where the list cannot be read in time. By metadata, and of large tokens, throws 'unavailable' where too many are
 * under way, and once `signal` is aborted.
 */
export async function pageTokens(
  parts: BroadReadParts,
  caller: Caller,
  filter: TokenListFilter,
  { signal, ...page }: { page: number; size: number; signal?: AbortSignal },
): Promise<{ items: ShownToken[]; totalItems: number }> {
  const where = rowFilter(caller, filter);
  if (where === undefined) return { items: [], totalItems: 0 };
  const { rows, total } = isBroad(where)
    ? await readBroadly(parts, where, signal, (on) => pageOfTokensInTurn(on, where, page))
    : await pageOfTokens(parts.database, where, page);
  return { items: await show(parts, caller, rows, signal), totalItems: total };
}

/**
 * The page after a cursor, newest first. Tokens written meanwhile neither repeat nor hide others. Fails as `pageTokens`
 * does.
 */
export async function followTokens(
  parts: BroadReadParts & { readonly cursors: Cursors },
  caller: Caller,
  filter: TokenListFilter,
  { start, size, signal }: { start?: string; size: number; signal?: AbortSignal },
): Promise<{ items: ShownToken[]; next: string | null }> {
  const { tenantId } = caller;
  const after = start === undefined ? undefined : await parts.cursors.decode(tenantId, 'tokens', start);
  const where = rowFilter(caller, filter);
  if (where === undefined) return { items: [], next: null };
  const read = (on: Queryable) => listRows(on, where, { after, limit: size + 1 });
  const rows = await (isBroad(where) ? readBroadly(parts, where, signal, read) : read(parts.database));
  const { items, last } = cutPage(rows, size);
  return {
    items: await show(parts, caller, items, signal),
    next: last === undefined ? null : await parts.cursors.encode(tenantId, 'tokens', last),
  };
}
