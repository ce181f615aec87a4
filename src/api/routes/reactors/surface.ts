import type { Clock } from '../../../platform/clock.ts';
import type { InvocationSurface } from '../../../services/reactors/asynchronous/types.ts';
import { problemHeaders, problemOf, PROBLEM_TYPE } from '../../problem.ts';
import { tokenInputCheck } from '../tokens/check.ts';
import { presentToken } from '../tokens/present.ts';
import { presentOutcome } from './present-outcome.ts';

/** How invocations look to callers, those who wait and those who are told later. */
export function invocationSurface(clock: Clock): InvocationSurface {
  return {
    check: tokenInputCheck(clock),
    render: presentToken,
    present: presentOutcome,
    refuse(error, traceId) {
      const body = problemOf(error, traceId);
      return { status: body.status, headers: problemHeaders(body.status), body, contentType: PROBLEM_TYPE };
    },
  };
}
