import type { Middleware } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { UNSTORED } from '../answer.ts';
import { problemOf, unforeseenProblem, type Problem } from '../problem.ts';
import type { ApiContext } from '../state.ts';

function answer(ctx: ApiContext, problem: Problem): void {
  ctx.status = problem.status;
  ctx.body = JSON.stringify(problem);
  ctx.type = 'application/problem+json';
  ctx.set(UNSTORED);
  if (problem.status === 401) ctx.set('WWW-Authenticate', 'ApiKey');
  if (problem.status === 503) ctx.set('Retry-After', '1');
}

/** Answers every failure as a problem body (RFC 9457), and logs those that are ours. */
export function problems(logger: Logger): Middleware {
  return async (context, next) => {
    const ctx = context as ApiContext;
    try {
      await next();
    } catch (error) {
      const { traceId } = ctx.state;
      if (error instanceof DomainError) {
        const problem = problemOf(error, traceId);
        if (problem.status >= 500) logger.warn({ traceId, status: problem.status, error }, 'Request failed');
        answer(ctx, problem);
      } else {
        logger.error({ traceId, error }, 'Request failed unexpectedly');
        answer(ctx, unforeseenProblem(traceId));
      }
    }
  };
}
