import type { Queryable, Statement } from './database.ts';
import type { Parameters } from './token-filters.ts';
import { foldMetadata } from './token-metadata.ts';

/**
 * Tokens of the tenant in scope that have some metadata, in the place of the table `tokens`: they have the columns that
 * tokens are narrowed and ordered by. The owner's function looks them up in the index of metadata, which the API itself
 * cannot use under row-level security.
 *
 * `most` is how many there are at most; without it, all.
 */
export function tokensWithMetadata(metadata: Record<string, string>, parameters: Parameters, most = 'null'): string {
  return `tokens_with_metadata(${parameters.add(foldMetadata(metadata))}::jsonb, ${most})`;
}

const COUNT_UP_TO: Statement = {
  name: 'count-tokens-with-metadata',
  text: 'select count(*)::integer as count from tokens_with_metadata($1::jsonb, $2)',
};

/** Tokens that are few: sooner looked up and sorted than met on the way through the newest. */
const FEW = 1_000;

/** Whether few tokens of the tenant in scope have the metadata. */
export async function isRareMetadata(queryable: Queryable, metadata: Record<string, string>): Promise<boolean> {
  const [row] = await queryable.run<{ count: number }>(COUNT_UP_TO, [foldMetadata(metadata), FEW + 1]);
  return row!.count <= FEW;
}
