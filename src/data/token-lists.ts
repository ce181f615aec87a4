import type { Queryable } from './database.ts';
import { Parameters, tokenFilterCondition, type TokenFilter } from './token-filters.ts';
import { CVC_JOIN, TOKEN_COLUMNS, type TokenRow } from './tokens.ts';

/** The last token of a page: the next one begins after it, whatever is written in between. */
export interface TokenPosition {
  createdAt: Date;
  id: string;
}

// The statements here have no name: each is planned for its filters and their values.

/** Newest first, ties by id. */
export async function listTokens(
  queryable: Queryable,
  filter: TokenFilter,
  page: { after?: TokenPosition; limit: number },
): Promise<TokenRow[]> {
  const parameters = new Parameters();
  const conditions = [tokenFilterCondition(filter, parameters)];
  if (page.after !== undefined) {
    const { createdAt, id } = page.after;
    conditions.push(
      `(t.created_at, t.token_id) < (${parameters.add(createdAt)}::timestamptz, ${parameters.add(id)}::text)`,
    );
  }
  const text = `
    select ${TOKEN_COLUMNS}
    from tokens t ${CVC_JOIN}
    where ${conditions.join(' and ')}
    order by t.created_at desc, t.token_id desc
    limit ${parameters.add(page.limit)}`;
  return queryable.run<TokenRow>({ text }, parameters.values);
}

/** One page, counted from 1, newest first, with the exact number of tokens in all. */
export async function pageOfTokens(
  queryable: Queryable,
  filter: TokenFilter,
  { page, size }: { page: number; size: number },
): Promise<{ rows: TokenRow[]; total: number }> {
  const counted = new Parameters();
  const count = `select count(*)::float8 as total from tokens t where ${tokenFilterCondition(filter, counted)}`;
  const parameters = new Parameters();
  const text = `
    select ${TOKEN_COLUMNS}
    from tokens t ${CVC_JOIN}
    where ${tokenFilterCondition(filter, parameters)}
    order by t.created_at desc, t.token_id desc
    limit ${parameters.add(size)} offset ${parameters.add((page - 1) * size)}`;
  const [totals, rows] = await Promise.all([
    queryable.run<{ total: number }>({ text: count }, counted.values),
    queryable.run<TokenRow>({ text }, parameters.values),
  ]);
  return { rows, total: totals[0]!.total };
}
