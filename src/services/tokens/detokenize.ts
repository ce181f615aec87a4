import type { Caller } from '../../domain/caller.ts';
import { ViolationCollector } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { faultOfTokenId, type Token } from '../../domain/tokens.ts';
import { containsExpression } from '../../expressions/template.ts';
import { findReferences, type NamedAt, resolveReferences } from '../../expressions/references.ts';
import type { TokenParts } from './create.ts';
import { resolveTokens } from './resolve.ts';
import { showEnriched } from './show.ts';

/** Renders a token as expressions and list forms see it; the API's own presenter. */
export type RenderToken = (shown: ShownToken) => JsonObject;

const WHOLE_REFERENCE = /^\s*\{\{(?!\s*config:)\s*(?:token:)?([^|{}]+)\}\}\s*$/;

const NOT_LISTABLE = 'must be a token id or a whole expression without filters, in a list with bare ids';

/** The id in an entry of a list form: bare, or a whole expression without filters. */
function listedId(entry: Json): string | undefined {
  if (typeof entry !== 'string') return undefined;
  return containsExpression(entry) ? WHOLE_REFERENCE.exec(entry)?.[1]?.trim() : entry;
}

function isBareId(entry: Json): boolean {
  return typeof entry === 'string' && !containsExpression(entry) && faultOfTokenId(entry) === undefined;
}

/**
 * The ids of a list form, `{"tokens": [<id or {{ id }}>, …]}`; undefined where the body has another form. Throws
 * 'invalid' where a list with bare ids also holds something else: read as a template, it would leave those ids as they
 * are.
 */
function listedIds(body: JsonObject): string[] | undefined {
  const { tokens } = body;
  if (Object.keys(body).length !== 1 || !Array.isArray(tokens)) return undefined;
  const ids = tokens.map(listedId);
  if (ids.includes(undefined) && !tokens.some(isBareId)) return undefined;
  const violations = new ViolationCollector();
  ids.forEach((id, index) => {
    const fault = id === undefined ? NOT_LISTABLE : faultOfTokenId(id);
    if (fault !== undefined) violations.add(`tokens[${index}]`, fault);
  });
  violations.throwIfAny();
  return ids as string[];
}

function namedInList(ids: readonly string[]): NamedAt {
  const paths = new Map<string, string[]>();
  ids.forEach((id, index) => {
    const known = paths.get(id);
    if (known === undefined) paths.set(id, [`tokens[${index}]`]);
    else known.push(`tokens[${index}]`);
  });
  return paths;
}

function namedInTemplate(body: JsonObject, violations: ViolationCollector): NamedAt {
  const { tokens, configuration } = findReferences(body, violations);
  for (const path of [...configuration.values()].flat()) {
    violations.add(path, 'must not name configuration: only reactors and proxies have any');
  }
  return tokens;
}

/** The values that a template's expressions take, of tokens that have been resolved. */
export function referable(tokens: ReadonlyMap<string, Token>, render: RenderToken) {
  return new Map(
    [...tokens].map(([id, token]) => [id, { data: token.data, token: render(showEnriched(token)) }] as const),
  );
}

/**
 * Replaces the expressions of `body` by the plaintext of the tokens that they name, or lists whole tokens where
 * `tokens` is its only member and an array of ids. Every token must be granted with the transform reveal; the tenant's
 * detokenize quota bounds how many there are.
 *
 * Throws 'invalid', under the property at fault, for expressions that cannot be evaluated, ids that are unknown, and a
 * list that mixes bare ids with anything but ids and whole expressions without filters; 'forbidden', naming the ids.
 */
export async function detokenize(
  parts: TokenParts,
  caller: Caller,
  body: JsonObject,
  render: RenderToken,
): Promise<Json> {
  const listed = listedIds(body);
  const violations = new ViolationCollector();
  const tokens = await resolveTokens(parts, caller, {
    named: listed === undefined ? namedInTemplate(body, violations) : namedInList(listed),
    violations,
    path: '',
    permission: 'token:read',
    operation: 'detokenize',
    limit: caller.quotas.detokenize,
  });
  if (listed !== undefined) return { tokens: listed.map((id) => render(showEnriched(tokens.get(id)!))) };
  return resolveReferences(body, { tokens: referable(tokens, render) });
}
