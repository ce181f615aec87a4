import type { ViolationCollector } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';
import { Budget } from './limits.ts';
import { RequestBudget } from './request-budget.ts';
import { createScope, parseValuePipeline, runPipeline } from './pipeline.ts';
import { evaluateText, visitExpressions } from './text.ts';
import { DATA_VARIABLES, rejectUnknownVariables } from './variables.ts';
import { mapStrings, visitStrings } from './walk.ts';

/** What the expressions of a token's own attributes see. */
export interface DataScope {
  data: Json;
  metadata?: Record<string, string>;
}

/**
 * True where the text holds an expression. An opening `{{` is enough: one that is not closed is a fault, not plain
 * text.
 */
export function containsExpression(text: string): boolean {
  return text.includes('{{');
}

/**
 * Evaluates every string of `template` that holds expressions, and returns the rest unchanged. Member names are never
 * evaluated. Throws 'invalid' under the property path of the first string that fails, be it that `request`, which one
 * request's templates share, is used up.
 */
export function evaluateTemplate(
  template: Json,
  scope: DataScope,
  path = '',
  request: RequestBudget = new RequestBudget(),
): Json {
  return request.time(() => {
    const budget = new Budget(request);
    const context = createScope({ data: scope.data, metadata: scope.metadata });
    return mapStrings(template, path, budget, (text) =>
      evaluateText(text, 'value', budget, (expression) => runPipeline(parseValuePipeline(expression), context, budget)),
    );
  });
}

/**
 * Evaluates one string: exactly one expression gives its typed JSON value, text around expressions gives a string, and
 * text without an expression is returned unchanged. What is missing is null, or nothing amid text.
 */
export function evaluateExpression(expression: string, scope: DataScope, path = '', request?: RequestBudget): Json {
  return evaluateTemplate(expression, scope, path, request);
}

/**
 * Parses every expression of `template` without evaluating it, and records each fault under its property path, names
 * that are no variable among them.
 */
export function checkTemplate(
  template: Json,
  path: string,
  violations: ViolationCollector,
  request: RequestBudget = new RequestBudget(),
): void {
  request.time(() => {
    const budget = new Budget(request);
    visitStrings(template, path, violations, (text) =>
      visitExpressions(text, 'value', budget, (expression) =>
        rejectUnknownVariables(parseValuePipeline(expression), DATA_VARIABLES),
      ),
    );
  });
}
