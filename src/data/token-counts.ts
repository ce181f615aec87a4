import { isContainer } from '../domain/containers.ts';
import type { Queryable, Statement } from './database.ts';
import {
  hasMetadata,
  matchCondition,
  Parameters,
  tokenFilterCondition,
  type TokenFilter,
  type TokenScope,
} from './token-filters.ts';
import { tokensWithMetadata } from './metadata-matches.ts';
import { runForCount } from './row-counts.ts';

/** Whether a filter is about containers and types alone, which is what counts are kept of. */
function isCounted({ scopes, ids, fingerprint, metadata }: TokenFilter): boolean {
  if (ids !== undefined || fingerprint !== undefined || hasMetadata(metadata)) return false;
  return scopes === 'all' || scopes.flat().every(({ attribute }) => attribute === 'container');
}

/** The container with whose children a scope is one; undefined for any other scope. */
function containerOf(scope: TokenScope): string | undefined {
  const [condition, ...others] = scope;
  if (condition === undefined || others.length > 0 || condition.operator !== 'starts_with') return undefined;
  const container = condition.value.toLowerCase();
  return condition.attribute === 'container' && isContainer(container) ? container : undefined;
}

/**
 * Containers, none of them below another, that together with their children hold exactly what the filter's scopes and
 * container do; undefined where there are none such.
 */
function containersOf({ scopes, container = '/' }: TokenFilter): string[] | undefined {
  const readable = scopes === 'all' ? ['/'] : scopes.map(containerOf);
  if (readable.includes(undefined)) return undefined;
  const asked = container.toLowerCase();
  const both = (readable as string[]).flatMap((path) =>
    path.startsWith(asked) ? [path] : asked.startsWith(path) ? [asked] : [],
  );
  const distinct = [...new Set(both)];
  return distinct.filter((path) => !distinct.some((other) => other !== path && path.startsWith(other)));
}

/** What the counts say of the filter, in the sum of which the changes not yet in them are missing. */
function storedCount(filter: TokenFilter, parameters: Parameters): string {
  const containers = containersOf(filter);
  if (containers === undefined) {
    return `select sum(t.own) from token_counts t where ${matchCondition(filter, parameters)}`;
  }
  const { tenantId, type } = filter;
  const narrowed = matchCondition({ tenantId, scopes: 'all', ...(type === undefined ? {} : { type }) }, parameters);
  return `
    select sum(t.within) from token_counts t
    where ${narrowed} and t.container = any (${parameters.add(containers)}::text[])`;
}

function oneByOne({ metadata, ...others }: TokenFilter, parameters: Parameters): string {
  const source = hasMetadata(metadata) ? tokensWithMetadata(metadata, parameters) : 'tokens';
  return `select count(*)::float8 as total from ${source} t where ${tokenFilterCondition(others, parameters)}`;
}

/**
 * The exact number of unexpired tokens that match. Takes as long for many as for few, save where ids, fingerprints or
 * metadata decide: those matches are counted one by one.
 */
export async function countTokens(queryable: Queryable, filter: TokenFilter): Promise<number> {
  const parameters = new Parameters();
  // Tokens that have expired are still in the counts until they are swept; they are few, and have an index.
  const text = isCounted(filter)
    ? `
      select (
        coalesce((${storedCount(filter, parameters)}), 0)
        + coalesce((select sum(t.change) from token_count_changes t where ${matchCondition(filter, parameters)}), 0)
        - (select count(*) from tokens t where ${matchCondition(filter, parameters)} and t.expires_at <= now())
      )::float8 as total`
    : oneByOne(filter, parameters);
  // Without a name: planned for its filters and their values.
  const [row] = await queryable.run<{ total: number }>({ text }, parameters.values);
  return row!.total;
}

const FOLD: Statement = { text: 'select fold_token_counts($1) as count' };

/**
 * Sums up at most `limit` changes of the counts, so that fewer are left to add when tokens are counted; gives how many.
 */
export function foldTokenCounts(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, FOLD, [limit]);
}

const DROP_EMPTY: Statement = { text: 'select drop_empty_token_counts($1) as count' };

/** Removes at most `limit` counts of containers without tokens; gives how many. */
export function dropEmptyTokenCounts(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, DROP_EMPTY, [limit]);
}
