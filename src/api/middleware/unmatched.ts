import type { RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { DomainError } from '../../domain/errors.ts';

/** Refuses what no route took: 405 naming the methods that the path takes, or 404 where there is no such path. */
export function refuseUnmatched(ctx: Context): never {
  const { matched = [] } = ctx as unknown as Partial<RouterContext>;
  if (matched.length === 0) throw new DomainError('not-found', 'There is nothing at this path.');
  ctx.set('Allow', [...new Set(matched.flatMap(({ methods }) => methods))].sort().join(', '));
  throw new DomainError('method-not-allowed', 'This path does not take this method.');
}
