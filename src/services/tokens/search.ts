import { searchTokens, type TokenSearch } from '../../data/token-search.ts';
import type { TokenTest } from '../../data/token-tests.ts';
import type { TokenRow } from '../../data/tokens.ts';
import type { Caller } from '../../domain/caller.ts';
import { alternativesOf } from '../../domain/search-alternatives.ts';
import { parseSearchQuery } from '../../domain/search-query-parser.ts';
import { SEARCH_LIMITS, type SearchQuery, type SearchTerm } from '../../domain/search-query.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { RequestBudget } from '../../expressions/request-budget.ts';
import { type Cursors, cutPage } from '../cursors.ts';
import { actorOf, searchLogEntry, tokenLogEntry } from '../log-entries.ts';
import type { TokenParts } from './create.ts';
import { openInSlices } from './open-in-slices.ts';
import { searchAccessOf, searchTransform } from './search-access.ts';
import { showToken } from './show.ts';
import { parseFingerprint } from './vault.ts';

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

async function showFound(parts: TokenParts, caller: Caller, rows: readonly TokenRow[]): Promise<ShownToken[]> {
  const actor = actorOf(caller);
  const budget = new RequestBudget();
  const [shown] = await Promise.all([
    openInSlices(parts.vault, rows, (token) => showToken(token, searchTransform(caller, token), budget)),
    // The search itself too: that nothing was found tells as much as a hit.
    parts.audit.record([searchLogEntry(actor), ...rows.map((row) => tokenLogEntry(actor, 'search', row))]),
  ]);
  return shown;
}

/**
 * One numbered page of the tokens that a query finds among those that the caller may both search and read, newest
 * first, with their number. Counts, and pages, end at SEARCH_LIMITS.reach. Throws 'invalid' for faults of the query.
 */
export async function pageFoundTokens(
  parts: TokenParts,
  caller: Caller,
  queryText: string,
  { page, size }: { page: number; size: number },
): Promise<{ items: ShownToken[]; totalItems: number }> {
  const search = await searchOf(parts, caller, parseSearchQuery(queryText));
  const { reach } = SEARCH_LIMITS;
  const offset = Math.min((page - 1) * size, reach);
  const found = await searchTokens(parts.database, search, { offset, limit: Math.min(size, reach - offset), reach });
  return { items: await showFound(parts, caller, found.rows), totalItems: Math.min(found.matches, reach) };
}

/**
 * The page after a cursor, newest first, as far as there are any. Tokens written meanwhile neither repeat nor hide
 * others. Throws 'invalid' for faults of the query, and for a cursor that another query gave.
 */
export async function followFoundTokens(
  parts: TokenParts & { readonly cursors: Cursors },
  caller: Caller,
  queryText: string,
  { start, size }: { start?: string; size: number },
): Promise<{ items: ShownToken[]; next: string | null }> {
  const { tenantId } = caller;
  const list = `tokens that meet ${queryText}`;
  const search = await searchOf(parts, caller, parseSearchQuery(queryText));
  const after = start === undefined ? undefined : await parts.cursors.decode(tenantId, list, start);
  const { rows } = await searchTokens(parts.database, search, { after, limit: size + 1, reach: FEW });
  const { items, last } = cutPage(rows, size);
  return {
    items: await showFound(parts, caller, items),
    next: last === undefined ? null : await parts.cursors.encode(tenantId, list, last),
  };
}
