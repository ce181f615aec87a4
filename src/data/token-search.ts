import type { Queryable } from './database.ts';
import { LISTED_COLUMNS, type ListedToken } from './listed-tokens.ts';
import { tokensWithMetadata } from './metadata-matches.ts';
import { hasMetadata, Parameters } from './token-filters.ts';
import type { TokenPosition } from './token-lists.ts';
import {
  criterionCondition,
  dataSearchableCondition,
  grantedCondition,
  type SearchAccess,
  type TokenCriterion,
} from './token-tests.ts';
import { CVC_JOIN, UNEXPIRED } from './tokens.ts';

/** Which tokens a search finds. */
export interface TokenSearch {
  readonly tenantId: string;
  readonly access: SearchAccess;
  /** A token is found that meets every criterion of one of them; at least one. */
  readonly alternatives: readonly (readonly TokenCriterion[])[];
}

export interface SearchPage {
  readonly after?: TokenPosition;
  readonly offset?: number;
  readonly limit: number;
  /** Matches that are counted exactly. */
  readonly reach: number;
}

// The statements here have no name: each is planned for its alternatives and their values.

/** The condition of each alternative. The tenant is parameter 1. */
function conditionsOf(
  { tenantId, access }: TokenSearch,
  alternatives: readonly (readonly TokenCriterion[])[],
  page: SearchPage,
  parameters: Parameters,
): string[] {
  const { after } = page;
  const common = [
    `t.tenant_id = ${parameters.add(tenantId)}`,
    // States the predicate of indexes; it holds for every token.
    `t.created_at > '-infinity'`,
    UNEXPIRED,
    grantedCondition(access, parameters),
    ...(after === undefined
      ? []
      : [
          `(t.created_at, t.token_id) < (${parameters.add(after.createdAt)}::timestamptz, ${parameters.add(after.id)})`,
        ]),
  ];
  let condition: string | undefined;
  // Only where it is asked for: Postgres refuses parameters that a statement does not use.
  const dataSearchable = () => (condition ??= dataSearchableCondition(access, parameters));
  return alternatives.map((criteria) =>
    [...common, ...criteria.map((criterion) => criterionCondition(criterion, dataSearchable, parameters))].join(
      '\n        and ',
    ),
  );
}

/** Tokens that are looked up by their metadata before it is known what else is true of them. */
const LOOKED_UP = 10_000;

const NEWEST_FIRST = 'order by t.created_at desc, t.token_id desc';

/** The metadata that every match of an alternative has, and what else is asked of it. */
function splitMetadata(criteria: readonly TokenCriterion[]): {
  metadata: Record<string, string>;
  others: TokenCriterion[];
} {
  const metadata = new Map<string, string>();
  const others = criteria.filter(({ test, isNegated }) => {
    if (isNegated || test.field !== 'metadata') return true;
    const key = test.key.toLowerCase();
    // No token has two values of one key; it is for the condition to find nothing.
    if (metadata.has(key)) return true;
    metadata.set(key, test.value);
    return false;
  });
  return { metadata: Object.fromEntries(metadata), others };
}

/**
 * The page and the number of all matches, as long as those are within reach; else only that they are not. Incomplete,
 * which `isCut` tells, where as many tokens as are looked up have the metadata of an alternative, and not all of them
 * are matches.
 *
 * Gathers before it sorts: asked for the newest few, Postgres would walk through the tenant's tokens by age whenever it
 * thinks a value more frequent than it is, which it does for metadata.
 */
async function gather(
  queryable: Queryable,
  search: TokenSearch,
  page: SearchPage,
  { byMetadata }: { byMetadata: boolean },
) {
  const parameters = new Parameters();
  const split = search.alternatives.map((criteria) =>
    byMetadata ? splitMetadata(criteria) : { metadata: {}, others: criteria },
  );
  const conditions = conditionsOf(
    search,
    split.map(({ others }) => others),
    page,
    parameters,
  );
  const most = parameters.add(page.reach + 1);
  const lookedUp = Math.max(page.reach + 1, LOOKED_UP);
  const lookUps = split.flatMap(({ metadata }, index) =>
    hasMetadata(metadata)
      ? [{ index, name: `having_${index}`, tokens: tokensWithMetadata(metadata, parameters, String(lookedUp)) }]
      : [],
  );
  const gathered = conditions.map((condition, index) => {
    const source = lookUps.find((lookUp) => lookUp.index === index)?.name ?? 'tokens';
    return `(select t.created_at, t.token_id from ${source} t where ${condition} limit ${most})`;
  });
  const cut = lookUps.map(({ name }) => `(select count(*) from ${name}) >= ${lookedUp}`).join(' or ') || 'false';
  const text = `
    with ${lookUps.map(({ name, tokens }) => `${name} as materialized (select * from ${tokens}), `).join('')}
    found as materialized (
      select distinct created_at, token_id from (${gathered.join(' union all ')}) as each
    ), counted as (
      select count(*)::integer as matches, ${cut} as "isCut" from found
    ), page as (
      select t.* from found t, counted where counted.matches < ${most}
      ${NEWEST_FIRST} limit ${parameters.add(page.limit)} offset ${parameters.add(page.offset ?? 0)}
    )
    select counted.matches, counted."isCut", shown.*
    from counted left join (
      select ${LISTED_COLUMNS}
      from page
      cross join lateral (select * from tokens where tenant_id = $1 and token_id = page.token_id limit 1) t ${CVC_JOIN}
    ) shown on true
    order by shown."createdAt" desc, shown.id desc`;
  type Row = ListedToken & { id: string | null; matches: number; isCut: boolean };
  const rows = await queryable.run<Row>({ text }, parameters.values);
  const { matches, isCut } = rows[0]!;
  return {
    ...{ matches, isCut },
    rows: rows.filter(({ id }) => id !== null).map(({ matches: _, isCut: __, ...row }): ListedToken => row),
  };
}

/** The page of a search with so many matches that the newest of each alternative are soon met. */
async function walk(queryable: Queryable, search: TokenSearch, page: SearchPage): Promise<ListedToken[]> {
  const parameters = new Parameters();
  const conditions = conditionsOf(search, search.alternatives, page, parameters);
  const offset = page.offset ?? 0;
  const most = parameters.add(offset + page.limit);
  const newest = conditions.map(
    (condition) => `(select t.* from tokens t where ${condition} ${NEWEST_FIRST} limit ${most})`,
  );
  const text = `
    select ${LISTED_COLUMNS}
    from (
      select distinct on (t.created_at, t.token_id) t.* from (${newest.join(' union all ')}) t
      ${NEWEST_FIRST} limit ${parameters.add(page.limit)} offset ${parameters.add(offset)}
    ) t ${CVC_JOIN}
    ${NEWEST_FIRST}`;
  return queryable.run<ListedToken>({ text }, parameters.values);
}

/**
 * One page of what a search finds, newest first, ties by id, and the number of all matches (from `after` on): exact up
 * to `page.reach`, and more than it stands for any larger number.
 */
export async function searchTokens(
  queryable: Queryable,
  search: TokenSearch,
  page: SearchPage,
): Promise<{ rows: ListedToken[]; matches: number }> {
  let gathered = await gather(queryable, search, page, { byMetadata: true });
  if (gathered.isCut && gathered.matches <= page.reach) {
    gathered = await gather(queryable, search, page, { byMetadata: false });
  }
  const { rows, matches } = gathered;
  if (matches <= page.reach) return { rows, matches };
  return { rows: await walk(queryable, search, page), matches };
}
