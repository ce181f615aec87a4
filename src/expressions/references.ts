import type { ViolationCollector } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';
import { ExpressionFault } from './fault.ts';
import { Budget } from './limits.ts';
import { createScope, parseFilterPipeline, type Pipeline, runPipeline } from './pipeline.ts';
import { evaluateText, visitExpressions } from './text.ts';
import { NO_VARIABLES, rejectUnknownVariables } from './variables.ts';
import { mapStrings, visitStrings } from './walk.ts';

/** Names in order of first appearance, each with the property paths of the strings that hold it. */
export type NamedAt = ReadonlyMap<string, readonly string[]>;

/** What the expressions of a detokenization template name. */
export interface References {
  /** By id. */
  tokens: NamedAt;
  /** Configuration values by name, from `{{ config: NAME }}`. */
  configuration: NamedAt;
}

/** A token as expressions see it: `{{ id }}` is its data, `{{ token: id }}` the whole token as the API presents it. */
export interface ResolvedToken {
  data: Json;
  token: Json;
}

export interface ResolvedReferences {
  tokens: ReadonlyMap<string, ResolvedToken>;
  configuration?: Readonly<Record<string, string>>;
}

/** What one expression refers to, and the filters that it applies. */
interface Reference {
  kind: 'data' | 'token' | 'config';
  name: string;
  filters: Pipeline;
}

const TOKEN_ID = /^[^#/\\+?[\]|&=%<>{}^]{3,400}$/;
const HEAD = /^(?:(token|config):)?\s*([^]*)$/;

/**
 * Lists the tokens and configuration values that `template`, which lies at `path` in its body, needs, and records every
 * syntax fault.
 */
export function findReferences(template: Json, violations: ViolationCollector, path = ''): References {
  const tokens = new Map<string, string[]>();
  const configuration = new Map<string, string[]>();
  const budget = new Budget();
  visitStrings(template, path, violations, (text, at) =>
    visitExpressions(text, 'reference', budget, (expression) => {
      const { kind, name } = parseReference(expression);
      addPath(kind === 'config' ? configuration : tokens, name, at());
    }),
  );
  return { tokens, configuration };
}

function addPath(paths: Map<string, string[]>, name: string, path: string): void {
  const known = paths.get(name);
  if (known === undefined) paths.set(name, [path]);
  else if (known.at(-1) !== path) known.push(path);
}

/**
 * Replaces every expression of `template`, which lies at `path` in its body, by what it refers to. Data that comes out
 * of a token is never evaluated again. Throws 'invalid' under the property path where a token or configuration name is
 * unknown, or a filter fails.
 */
export function resolveReferences(template: Json, resolved: ResolvedReferences, path = ''): Json {
  const budget = new Budget();
  const context = createScope({});
  return mapStrings(template, path, budget, (text) =>
    evaluateText(text, 'reference', budget, (expression) => {
      const reference = parseReference(expression);
      return runPipeline(reference.filters, context, budget, lookUp(reference, resolved));
    }),
  );
}

/** The head is cut off before Liquid reads anything: an id may hold spaces, quotes, dots and colons. */
function parseReference(expression: string): Reference {
  const bar = expression.indexOf('|');
  const head = (bar === -1 ? expression : expression.slice(0, bar)).trim();
  const filters = parseFilterPipeline(bar === -1 ? '' : expression.slice(bar));
  rejectUnknownVariables(filters, NO_VARIABLES);
  const [, prefix, name = ''] = HEAD.exec(head) ?? [];
  if (prefix === 'config') {
    if (name === '') throw new ExpressionFault('has an expression without the name of a configuration value');
    return { kind: 'config', name, filters };
  }
  if (!TOKEN_ID.test(name)) throw new ExpressionFault('has an expression without a token id');
  return { kind: prefix === 'token' ? 'token' : 'data', name, filters };
}

function lookUp({ kind, name }: Reference, { tokens, configuration = {} }: ResolvedReferences): Json {
  if (kind === 'config') {
    if (!Object.hasOwn(configuration, name)) throw new ExpressionFault('refers to an unknown configuration value');
    return configuration[name]!;
  }
  const token = tokens.get(name);
  if (token === undefined) throw new ExpressionFault('refers to an unknown token');
  return kind === 'token' ? token.token : token.data;
}
