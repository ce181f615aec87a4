import type { Json } from '../domain/json.ts';
import { ExpressionFault } from './fault.ts';
import { jsonText } from './filters/cast.ts';
import { type Budget, MAX_OUTPUT } from './limits.ts';
import { type Dialect, isTemplate, scan } from './scan.ts';

/** Evaluates one string of a template by `evaluate`, which is given what stands between braces. */
export function evaluateText(
  text: string,
  dialect: Dialect,
  budget: Budget,
  evaluate: (expression: string) => Json,
): Json {
  if (!isTemplate(text)) {
    budget.copy(text);
    return text;
  }
  const parts = scan(text, dialect, budget);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && 'expression' in only) {
    return evaluatePart(only.expression, budget, evaluate);
  }
  let result = '';
  for (const part of parts) {
    if ('text' in part) budget.copy(part.text);
    result += 'text' in part ? part.text : jsonText(evaluatePart(part.expression, budget, evaluate));
    if (result.length > MAX_OUTPUT) throw new ExpressionFault('gives too large a result');
  }
  return result;
}

function evaluatePart(expression: string, budget: Budget, evaluate: (expression: string) => Json): Json {
  const result = evaluate(expression);
  budget.emit(result);
  return result;
}

/** Visits what stands between the braces of one string of a template. */
export function visitExpressions(
  text: string,
  dialect: Dialect,
  budget: Budget,
  visit: (expression: string) => void,
): void {
  if (!isTemplate(text)) return;
  for (const part of scan(text, dialect, budget)) {
    if ('expression' in part) visit(part.expression);
  }
}
