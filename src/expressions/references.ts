import { DomainError } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';

/** What the expressions of a detokenization template name, each once, in order of first appearance. */
export interface References {
  tokenIds: string[];
  /** Names of configuration values, from `{{ config: NAME }}`. */
  configuration: string[];
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

/** Lists the tokens and configuration values that `template` needs. Throws 'invalid' with every syntax fault found. */
export function findReferences(_template: Json): References {
  throw new DomainError('not-implemented', '');
}

/**
 * Replaces every expression of `template` by what it refers to. Data that comes out of a token is never evaluated
 * again. Throws 'invalid' under the property path where a token or configuration name is unknown, or a filter fails.
 */
export function resolveReferences(_template: Json, _resolved: ResolvedReferences): Json {
  throw new DomainError('not-implemented', '');
}
