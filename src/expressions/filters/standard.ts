import { filters } from 'liquidjs';

/**
 * The filters of standard Liquid that are taken over from the library as they are.
 *
 * Not of the library, and therefore among ours: `base64_url_safe_encode`, `base64_url_safe_decode`.
 *
 * Left out: what evaluates text as an expression (`*_exp`), what is not Liquid (`sample`, `inspect`, `jsonify`, `raw`,
 * `slugify`, the digests without a key), and `json`, which is ours.
 */
export const STANDARD_FILTERS = [
  'abs',
  'append',
  'at_least',
  'at_most',
  'base64_decode',
  'base64_encode',
  'capitalize',
  'ceil',
  'compact',
  'concat',
  'date',
  'default',
  'divided_by',
  'downcase',
  'escape',
  'escape_once',
  'find',
  'find_index',
  'first',
  'floor',
  'has',
  'join',
  'last',
  'lstrip',
  'map',
  'minus',
  'modulo',
  'newline_to_br',
  'plus',
  'prepend',
  'reject',
  'remove',
  'remove_first',
  'remove_last',
  'replace',
  'replace_first',
  'replace_last',
  'reverse',
  'round',
  'rstrip',
  'size',
  'slice',
  'sort',
  'sort_natural',
  'split',
  'strip',
  'strip_html',
  'strip_newlines',
  'sum',
  'times',
  'truncate',
  'truncatewords',
  'uniq',
  'upcase',
  'url_decode',
  'url_encode',
  'where',
] as const;

/** What the library's filters find as `this`. */
export interface StandardFilterScope {
  context: unknown;
  liquid: unknown;
}

export type StandardFilter = (this: StandardFilterScope, value: unknown, ...args: unknown[]) => unknown;

const library: Record<string, unknown> = { ...filters };

/** By name; a Map, so that no name reaches a prototype. */
export const standardFilters: ReadonlyMap<string, StandardFilter> = new Map(
  STANDARD_FILTERS.map((name) => [name, handlerOf(name)]),
);

function handlerOf(name: string): StandardFilter {
  const handler = library[name];
  if (typeof handler !== 'function') throw new Error(`liquidjs has no filter named ${name}`);
  return handler as StandardFilter;
}
