import type { Queryable } from './database.ts';
import { LISTED_COLUMNS, type ListedToken } from './listed-tokens.ts';
import { isRareMetadata, tokensWithMetadata } from './metadata-matches.ts';
import { countTokens } from './token-counts.ts';
import { hasMetadata, Parameters, tokenFilterCondition, type TokenFilter } from './token-filters.ts';
import { CVC_JOIN } from './tokens.ts';

/** The last token of a page: the next one begins after it, whatever is written in between. */
export interface TokenPosition {
  createdAt: Date;
  id: string;
}

interface Slice {
  after?: TokenPosition;
  offset?: number;
  limit: number;
}

/**
 * Newest first, ties by id. Which tokens are in the slice is settled first, on an index that has what most lists are
 * narrowed by: only rows that are shown are read, however many lie before them.
 */
async function sliceOfTokens(queryable: Queryable, filter: TokenFilter, slice: Slice): Promise<ListedToken[]> {
  const parameters = new Parameters();
  const { metadata, ...others } = filter;
  const isRare = hasMetadata(metadata) && (await isRareMetadata(queryable, metadata));
  // States the predicate of that index; it holds for every token.
  const conditions = [tokenFilterCondition(isRare ? others : filter, parameters), `t.created_at > '-infinity'`];
  if (slice.after !== undefined) {
    const { createdAt, id } = slice.after;
    conditions.push(
      `(t.created_at, t.token_id) < (${parameters.add(createdAt)}::timestamptz, ${parameters.add(id)}::text)`,
    );
  }
  const text = `
    select ${LISTED_COLUMNS}
    from (
      select t.tenant_id, t.token_id
      from ${isRare ? tokensWithMetadata(metadata, parameters) : 'tokens'} t
      where ${conditions.join(' and ')}
      order by t.created_at desc, t.token_id desc
      limit ${parameters.add(slice.limit)} offset ${parameters.add(slice.offset ?? 0)}
    ) listed
    cross join lateral (
      select * from tokens where tenant_id = listed.tenant_id and token_id = listed.token_id limit 1
    ) t ${CVC_JOIN}
    order by t.created_at desc, t.token_id desc`;
  // Without a name: planned for its filters and their values.
  return queryable.run<ListedToken>({ text }, parameters.values);
}

/** Newest first, ties by id. */
export async function listTokens(
  queryable: Queryable,
  filter: TokenFilter,
  page: { after?: TokenPosition; limit: number },
): Promise<ListedToken[]> {
  return sliceOfTokens(queryable, filter, page);
}

/** A page, counted from 1. */
interface NumberedPage {
  page: number;
  size: number;
}

function sliceOf({ page, size }: NumberedPage): Slice {
  return { offset: (page - 1) * size, limit: size };
}

/** One page, newest first, with the exact number of tokens in all: two statements at once. */
export async function pageOfTokens(
  queryable: Queryable,
  filter: TokenFilter,
  page: NumberedPage,
): Promise<{ rows: ListedToken[]; total: number }> {
  const [total, rows] = await Promise.all([
    countTokens(queryable, filter),
    sliceOfTokens(queryable, filter, sliceOf(page)),
  ]);
  return { rows, total };
}

/** The same with one statement after the other, as a transaction takes them. */
export async function pageOfTokensInTurn(
  transaction: Queryable,
  filter: TokenFilter,
  page: NumberedPage,
): Promise<{ rows: ListedToken[]; total: number }> {
  const total = await countTokens(transaction, filter);
  return { rows: await sliceOfTokens(transaction, filter, sliceOf(page)), total };
}
