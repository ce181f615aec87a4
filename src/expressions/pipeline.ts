import { Context, evalTokenValue, Liquid, Tokenizer, toValueSync, type Token } from 'liquidjs';
import type { Json } from '../domain/json.ts';
import { BoundedCache } from './bounded-cache.ts';
import { ExpressionFault, faultMessage } from './fault.ts';
import { holdsRange, parseStep, runStep, type Step, textOfDigest } from './pipeline-step.ts';
import { type Budget, MAX_OUTPUT } from './limits.ts';

/** A parsed expression: where its value comes from, and the filters that it goes through. */
export interface Pipeline {
  /** Absent where the value is given from outside (a token or configuration value). */
  source?: Token;
  steps: Step[];
}

// No file system, no templates, and nothing but own properties. Dates are UTC in English wherever the server stands.
const liquid = new Liquid({
  ownPropertyOnly: true,
  strictFilters: true,
  templates: {},
  memoryLimit: MAX_OUTPUT,
  timezoneOffset: 0,
  locale: 'en-US',
});

// Default masks are evaluated at every read. Kept by the text between braces, which users write and which may therefore
// hold anything they like: so only short ones, few, and in memory only.
const CACHED_LENGTH = 500;
// One for each grammar: `| last4` alone is a pipeline of filters, and no value.
const valuePipelines = new BoundedCache<Pipeline>(1_000);
const filterPipelines = new BoundedCache<Pipeline>(1_000);

/** Parses what stands between braces: a value, then filters. Throws ExpressionFault. */
export function parseValuePipeline(expression: string): Pipeline {
  return parsed(valuePipelines, expression, (tokenizer) => {
    // The library also reads comparisons here. Liquid's outputs have none, and chained ones would not be bounded.
    const [source, ...more] = tokenizer.readExpression().postfix;
    if (source === undefined || more.length > 0 || holdsRange(source)) {
      throw new ExpressionFault('has an expression without a single value before its filters');
    }
    return { source, steps: tokenizer.readFilters().map(parseStep) };
  });
}

/** Parses filters alone, from the first bar on. Throws ExpressionFault. */
export function parseFilterPipeline(filters: string): Pipeline {
  return parsed(filterPipelines, filters, (tokenizer) => ({ steps: tokenizer.readFilters().map(parseStep) }));
}

function parsed(cache: BoundedCache<Pipeline>, text: string, parse: (tokenizer: Tokenizer) => Pipeline): Pipeline {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const pipeline = parseWhole(text, parse);
  if (text.length <= CACHED_LENGTH) cache.set(text, pipeline);
  return pipeline;
}

function parseWhole(text: string, parse: (tokenizer: Tokenizer) => Pipeline): Pipeline {
  try {
    const tokenizer = new Tokenizer(text, liquid.options.operators);
    const pipeline = parse(tokenizer);
    tokenizer.skipBlank();
    if (tokenizer.end()) return pipeline;
  } catch (error) {
    throw new ExpressionFault(faultMessage(error, 'has an expression with a syntax error'));
  }
  throw new ExpressionFault('has an expression with a syntax error');
}

/** Variables by name; without a prototype, so that no name reaches one. */
export function createScope(variables: Record<string, Json | undefined>): Context {
  return new Context(
    Object.assign(Object.create(null), variables) as object,
    liquid.options,
    { sync: true },
    { liquid },
  );
}

/** Evaluates a pipeline on its own source or, where it has none, on `input`. Throws ExpressionFault. */
export function runPipeline(pipeline: Pipeline, context: Context, budget: Budget, input: Json = null): Json {
  let value: unknown = input;
  if (pipeline.source !== undefined) {
    try {
      value = toValueSync(evalTokenValue(pipeline.source, context)) ?? null;
    } catch {
      throw new ExpressionFault('has an expression whose value cannot be read');
    }
  }
  budget.spend(1);
  for (const step of pipeline.steps) value = runStep(step, value, context, liquid, budget);
  return textOfDigest(value);
}
