import { type JSONPathQuery, jsonpath } from 'json-p3';
import type { Json } from '../domain/json.ts';
import { deepEqual, textComparisonCost } from './json-path-equality.ts';
import { type CompiledPatterns, matchesPattern } from './i-regexp.ts';

const { BooleanLiteral, FunctionExtension, InfixExpression, LogicalExpression } = jsonpath.expressions;
const { NullLiteral, NumberLiteral, PrefixExpression, RelativeQuery, RootQuery, StringLiteral } = jsonpath.expressions;

type FilterExpression = jsonpath.expressions.FilterExpression;

/** What a filter needs of the query that it stands in. */
export interface FilterScope {
  readonly root: Json;
  readonly patterns: CompiledPatterns;
  charge(units: number): void;
  select(query: JSONPathQuery, start: Json): Json[];
}

/** RFC 9535's Nothing: the value of what does not exist, different from null. */
type Value = Json | undefined;

/** Whether a filter's expression is true of `current` (RFC 9535, section 2.3.5). */
export function holds(expression: FilterExpression, current: Json, scope: FilterScope): boolean {
  // A filter may be long and look at literals alone.
  scope.charge(1);
  if (expression instanceof LogicalExpression) return holds(expression.expression, current, scope);
  if (expression instanceof PrefixExpression) return !holds(expression.right, current, scope);
  if (expression instanceof InfixExpression) {
    const { left, operator, right } = expression;
    if (operator === '&&') return holds(left, current, scope) && holds(right, current, scope);
    if (operator === '||') return holds(left, current, scope) || holds(right, current, scope);
    return compare(valueOf(left, current, scope), operator, valueOf(right, current, scope), scope);
  }
  if (expression instanceof FunctionExtension) return call(expression, current, scope) === true;
  return nodesOf(expression, current, scope).length > 0;
}

function nodesOf(expression: FilterExpression, current: Json, scope: FilterScope): Json[] {
  if (expression instanceof RelativeQuery) return scope.select(expression.path, current);
  if (expression instanceof RootQuery) return scope.select(expression.path, scope.root);
  return [];
}

/** The value of a literal, a singular query or a function; the parser lets nothing else be compared. */
function valueOf(expression: FilterExpression, current: Json, scope: FilterScope): Value {
  if (expression instanceof NullLiteral) return null;
  if (expression instanceof BooleanLiteral) return expression.value;
  if (expression instanceof NumberLiteral) return expression.value;
  if (expression instanceof StringLiteral) return expression.value;
  if (expression instanceof FunctionExtension) return call(expression, current, scope);
  return nodesOf(expression, current, scope)[0];
}

/** The function extensions of RFC 9535, section 2.4. */
function call({ name, args }: jsonpath.expressions.FunctionExtension, current: Json, scope: FilterScope): Value {
  const value = (index: number): Value => valueOf(args[index]!, current, scope);
  switch (name) {
    case 'length':
      return lengthOf(value(0), scope);
    case 'count':
      return nodesOf(args[0]!, current, scope).length;
    case 'value': {
      const nodes = nodesOf(args[0]!, current, scope);
      return nodes.length === 1 ? nodes[0] : undefined;
    }
    case 'match':
      return matchesPattern(value(0), value(1), 'whole', scope);
    case 'search':
      return matchesPattern(value(0), value(1), 'part', scope);
    default:
      return undefined;
  }
}

/** In Unicode scalar values, elements or members. */
function lengthOf(value: Value, scope: FilterScope): Value {
  if (typeof value === 'string') {
    scope.charge(value.length);
    return [...value].length;
  }
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'object' || value === null) return undefined;
  const { length } = Object.keys(value);
  scope.charge(length);
  return length;
}

function compare(left: Value, operator: string, right: Value, scope: FilterScope): boolean {
  switch (operator) {
    case '==':
      return deepEqual(left, right, scope);
    case '!=':
      return !deepEqual(left, right, scope);
    case '<':
      return less(left, right, scope);
    case '>':
      return less(right, left, scope);
    case '<=':
      return less(left, right, scope) || deepEqual(left, right, scope);
    case '>=':
      return less(right, left, scope) || deepEqual(left, right, scope);
    default:
      return false;
  }
}

function less(left: Value, right: Value, scope: FilterScope): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  scope.charge(textComparisonCost(left, right));
  return left < right;
}
