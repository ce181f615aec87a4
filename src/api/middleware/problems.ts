import type { Middleware } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { UNSTORED } from '../answer.ts';
import { problemHeaders, problemOf, PROBLEM_TYPE, unforeseenProblem, type Problem } from '../problem.ts';
import type { ApiContext } from '../state.ts';

function answer(ctx: ApiContext, problem: Problem, challenge: string | undefined): void {
  ctx.status = problem.status;
  ctx.body = JSON.stringify(problem);
  ctx.type = PROBLEM_TYPE;
  ctx.set(UNSTORED);
  for (const [name, value] of Object.entries(problemHeaders(problem.status, challenge))) {
    // A limit that knows when it ends has said so already.
    if (!ctx.response.get(name)) ctx.set(name, value);
  }
}

/**
 * Answers every failure as a problem body (RFC 9457), and logs those that are ours. The challenge tells whoever is not
 * recognized what to present.
 */
export function problems(logger: Logger, challenge?: string): Middleware {
  return async (context, next) => {
    const ctx = context as ApiContext;
    try {
      await next();
    } catch (error) {
      const { traceId } = ctx.state;
      if (error instanceof DomainError) {
        const problem = problemOf(error, traceId);
        if (problem.status >= 500) logger.warn({ traceId, status: problem.status, error }, 'Request failed');
        answer(ctx, problem, challenge);
      } else {
        logger.error({ traceId, error }, 'Request failed unexpectedly');
        answer(ctx, unforeseenProblem(traceId), challenge);
      }
    }
  };
}
