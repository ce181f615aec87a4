import type { ListedToken } from '../../data/listed-tokens.ts';
import { searchTokens, type SearchPage, type TokenSearch } from '../../data/token-search.ts';
import type { TokenTest } from '../../data/token-tests.ts';
import type { Caller } from '../../domain/caller.ts';
import { alternativesOf } from '../../domain/search-alternatives.ts';
import { parseSearchQuery } from '../../domain/search-query-parser.ts';
import { SEARCH_LIMITS, type SearchQuery, type SearchTerm } from '../../domain/search-query.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { type Cursors, cutPage } from '../cursors.ts';
import { actorOf, searchLogEntry } from '../log-entries.ts';
import type { BroadReadParts } from './broad-reads.ts';
import type { TokenParts } from './create.ts';
import { searchAccessOf, searchTransform } from './search-access.ts';
import { pageLogEntries, showPage } from './show-page.ts';
import { parseFingerprint } from './vault.ts';

const ADVICE =
  'add a term that few tokens meet, without NOT, such as id, data, fingerprint, metadata.<key> or created_at';

/** Matches up to which a page by cursor is sorted out of all of them; there is nothing to count. */
const FEW = 1_000;

async function testOf(parts: TokenParts, tenantId: string, term: SearchTerm): Promise<TokenTest> {
  if (term.field === 'data') return { field: 'data', hash: await parts.vault.searchHash(tenantId, term.value) };
  if (term.field !== 'fingerprint') return term;
  return { field: 'fingerprint', fingerprint: parseFingerprint(term.value) ?? null };
}

async function searchOf(parts: TokenParts, caller: Caller, query: SearchQuery | undefined): Promise<TokenSearch> {
  const { tenantId } = caller;
  const alternatives = query === undefined ? [[]] : alternativesOf(query);
  return {
    tenantId,
    access: searchAccessOf(caller),
    alternatives: await Promise.all(
      alternatives.map((literals) =>
        Promise.all(
          literals.map(async ({ term, isNegated }) => ({ test: await testOf(parts, tenantId, term), isNegated })),
        ),
      ),
    ),
  };
}

/** Reads what has been prepared: whatever else is waited for, keys above all, is waited for before or after. */
function find(
  parts: BroadReadParts,
  search: TokenSearch,
  page: SearchPage,
  signal: AbortSignal | undefined,
): Promise<{ rows: ListedToken[]; matches: number }> {
  const read = { tenantId: search.tenantId, property: 'query', advice: ADVICE, signal };
  return parts.broadReads.run(read, (on) => searchTokens(on, search, page));
}

async function show(
  parts: BroadReadParts,
  caller: Caller,
  found: readonly ListedToken[],
  signal: AbortSignal | undefined,
): Promise<ShownToken[]> {
  const actor = actorOf(caller);
  const shown = await showPage(parts, found, (token) => searchTransform(caller, token), signal);
  // The search itself too: that nothing was found tells as much as a hit.
  await parts.audit.record([searchLogEntry(actor), ...pageLogEntries(actor, 'search', found, shown)]);
  return shown;
}

/**
 * One numbered page of the tokens that a query finds among those that the caller may both search and read, newest
 * first, with their number. Counts, and pages, end at SEARCH_LIMITS.reach. Throws 'invalid' for faults of the query,
 * and where it is too broad to be answered in time; 'unavailable' where too many are under way, and once `signal` is
 * aborted.
 */
export async function pageFoundTokens(
  parts: BroadReadParts,
  caller: Caller,
  queryText: string,
  { page, size, signal }: { page: number; size: number; signal?: AbortSignal },
): Promise<{ items: ShownToken[]; totalItems: number }> {
  const search = await searchOf(parts, caller, parseSearchQuery(queryText));
  const { reach } = SEARCH_LIMITS;
  const offset = Math.min((page - 1) * size, reach);
  const found = await find(parts, search, { offset, limit: Math.min(size, reach - offset), reach }, signal);
  return { items: await show(parts, caller, found.rows, signal), totalItems: Math.min(found.matches, reach) };
}

/**
 * The page after a cursor, newest first, as far as there are any. Tokens written meanwhile neither repeat nor hide
 * others. Fails as `pageFoundTokens` does, and for a cursor that another query gave.
 */
export async function followFoundTokens(
  parts: BroadReadParts & { readonly cursors: Cursors },
  caller: Caller,
  queryText: string,
  { start, size, signal }: { start?: string; size: number; signal?: AbortSignal },
): Promise<{ items: ShownToken[]; next: string | null }> {
  const { tenantId } = caller;
  const list = `tokens that meet ${queryText}`;
  const search = await searchOf(parts, caller, parseSearchQuery(queryText));
  const after = start === undefined ? undefined : await parts.cursors.decode(tenantId, list, start);
  const { rows } = await find(parts, search, { after, limit: size + 1, reach: FEW }, signal);
  const { items, last } = cutPage(rows, size);
  return {
    items: await show(parts, caller, items, signal),
    next: last === undefined ? null : await parts.cursors.encode(tenantId, list, last),
  };
}
