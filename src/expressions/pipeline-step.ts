import {
  type Context,
  evalTokenValue,
  type Liquid,
  type Token,
  type Tokenizer,
  TypeGuards,
  toValueSync,
} from 'liquidjs';
import type { Json } from '../domain/json.ts';
import { ExpressionFault, faultMessage } from './fault.ts';
import { Digest, type Filter } from './filters/filter.ts';
import { ownFilters } from './filters/registry.ts';
import { runStandardFilter } from './standard-step.ts';
import { type StandardFilter, standardFilters } from './filters/standard.ts';
import { type Budget, MAX_OUTPUT } from './limits.ts';

/** One filter of an expression with its arguments. */
export type Step =
  | { name: string; own: Filter; constants: readonly unknown[] | undefined; args: readonly Token[] }
  | { name: string; standard: StandardFilter; args: readonly Token[]; named: ReadonlyMap<number, string> };

type FilterToken = ReturnType<Tokenizer['readFilters']>[number];

// A name that is not one, or has many digits, may be data in the wrong place, and is not repeated.
export const PRINTABLE_NAME = /^(?!(?:\D*\d){5})[a-z][a-z0-9_]{0,39}$/i;

/** Finds the filter and checks its arguments as far as they are literals. Throws ExpressionFault. */
export function parseStep({ name, args }: FilterToken): Step {
  const own = ownFilters.get(name);
  if (own !== undefined) return named(name, () => parseOwnStep(name, own, args));
  const standard = standardFilters.get(name);
  if (standard !== undefined) return named(name, () => parseStandardStep(name, standard, args));
  throw new ExpressionFault(PRINTABLE_NAME.test(name) ? `has an unknown filter ${name}` : 'has an unknown filter');
}

function parseOwnStep(name: string, own: Filter, args: FilterToken['args']): Step {
  if (args.some(Array.isArray)) throw new ExpressionFault('takes its arguments by position');
  if (args.length > own.parameters.length) throw new ExpressionFault('has too many arguments');
  const missing = own.parameters.slice(args.length).find((parameter) => !('fallback' in parameter));
  if (missing !== undefined) throw new ExpressionFault(`needs the argument ${missing.name}`);
  const tokens = args as readonly Token[];
  rejectRanges(tokens);
  const constants = tokens.every(isLiteral) ? readArguments(own, tokens.map(literalValue)) : undefined;
  return { name, own, constants, args: tokens };
}

function parseStandardStep(name: string, standard: StandardFilter, args: FilterToken['args']): Step {
  const names = new Map<number, string>();
  const tokens = args.map((argument, index) => {
    if (!Array.isArray(argument)) return argument;
    const [argumentName = '', token] = argument;
    if (token === undefined) throw new ExpressionFault('has an argument without a value');
    names.set(index, argumentName);
    return token;
  });
  rejectRanges(tokens);
  return { name, standard, args: tokens, named: names };
}

// `(1..1000000)` is twelve characters of template and a million elements.
function rejectRanges(tokens: readonly Token[]): void {
  if (tokens.some(holdsRange)) throw new ExpressionFault('takes no ranges');
}

/** True of a range, and of a value that is read with one: `(1..1000000).size`, `data[(1..1000000)]`. */
export function holdsRange(token: Token | undefined): boolean {
  if (TypeGuards.isRangeToken(token)) return true;
  return TypeGuards.isPropertyAccessToken(token) && (holdsRange(token.variable) || token.props.some(holdsRange));
}

function isLiteral(token: Token): boolean {
  return TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token) || TypeGuards.isLiteralToken(token);
}

function literalValue(token: Token): Json {
  const content: unknown = (token as Token & { content: unknown }).content;
  return typeof content === 'object' ? null : (content as Json);
}

function readArguments(own: Filter, values: readonly Json[]): unknown[] {
  return own.parameters.map((parameter, index) =>
    index < values.length ? parameter.read(values[index]!) : parameter.fallback,
  );
}

/** Applies one filter. Throws ExpressionFault, naming the filter. */
export function runStep(step: Step, value: unknown, context: Context, liquid: Liquid, budget: Budget): unknown {
  return named(step.name, () => {
    const evaluate = (token: Token): Json => (toValueSync(evalTokenValue(token, context)) ?? null) as Json;
    if ('standard' in step) {
      const args = step.args.map((token, index) => {
        const argument = evaluate(token);
        const name = step.named.get(index);
        return name === undefined ? argument : ([name, argument] as Json);
      });
      return runStandardFilter(step.name, step.standard, textOfDigest(value), args, { context, liquid }, budget);
    }
    const { own } = step;
    const args = step.constants ?? readArguments(own, step.args.map(evaluate));
    const input = own.takesBytes ? (value as Json | Digest) : textOfDigest(value);
    if (input === null) return null;
    budget.spend(typeof input === 'string' ? input.length + 1 : 1);
    const result = own.apply(input, args, budget);
    // Encodings chained would double a text again and again.
    if (typeof result === 'string' && result.length > MAX_OUTPUT) throw new ExpressionFault('gives too large a result');
    return result;
  });
}

/** What a filter makes as JSON: digests are text unless an encoding takes their bytes. */
export function textOfDigest(value: unknown): Json {
  return value instanceof Digest ? value.toString() : (value as Json);
}

/** What `work` gives; what it throws becomes an ExpressionFault that names the filter. */
export function named<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ExpressionFault(`filter ${name}: ${faultMessage(error, 'cannot be applied to this value')}`);
  }
}
