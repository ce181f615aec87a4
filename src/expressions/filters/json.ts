import type { JSONPathQuery } from 'json-p3';
import { ExpressionFault } from '../fault.ts';
import { parseJsonPath, queryJsonPath } from '../json-path.ts';
import { defineFilter, type Parameter } from './filter.ts';

const path: Parameter<JSONPathQuery> = {
  name: 'path',
  read: (value) => {
    if (typeof value !== 'string') throw new ExpressionFault('path must be a JSONPath query');
    return parseJsonPath(value);
  },
};

/** The one value that a JSONPath query selects; null where it selects none. */
export const json = defineFilter([path], (value, [query], budget) => {
  const found = queryJsonPath(query, value, budget);
  if (found.length > 1) throw new ExpressionFault('the path must select one value, and selects several');
  return found[0] ?? null;
});
