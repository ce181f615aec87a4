import type { Caller } from '../../domain/caller.ts';
import { DomainError } from '../../domain/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { faultOfTokenId, type Token } from '../../domain/tokens.ts';
import { containsExpression } from '../../expressions/template.ts';
import { findReferences, resolveReferences } from '../../expressions/references.ts';
import type { TokenParts } from './create.ts';
import { resolveTokens } from './resolve.ts';
import { showEnriched } from './show.ts';

/** Renders a token as expressions and list forms see it; the API's own presenter. */
export type RenderToken = (shown: ShownToken) => JsonObject;

const WHOLE_REFERENCE = /^\s*\{\{\s*(?:token:)?([^|{}]+)\}\}\s*$/;

/** The ids of a list form, `{"tokens": [<id or {{ id }}>, …]}`; undefined where the body has another form. */
function listedIds(body: JsonObject): string[] | undefined {
  const { tokens } = body;
  if (Object.keys(body).length !== 1 || !Array.isArray(tokens)) return undefined;
  const ids = tokens.map((entry) => {
    if (typeof entry !== 'string') return undefined;
    if (!containsExpression(entry)) return entry;
    return WHOLE_REFERENCE.exec(entry)?.[1]?.trim();
  });
  return ids.every((id) => id !== undefined && faultOfTokenId(id) === undefined) ? (ids as string[]) : undefined;
}

/** The values that a template's expressions take, of tokens that have been resolved. */
export function referable(tokens: ReadonlyMap<string, Token>, render: RenderToken) {
  return new Map(
    [...tokens].map(([id, token]) => [id, { data: token.data, token: render(showEnriched(token)) }] as const),
  );
}

/**
 * Replaces the expressions of `body` by the plaintext of the tokens that they name. Every token must be granted with
 * the transform reveal; the tenant's detokenize quota bounds how many there are.
 */
export async function detokenize(parts: TokenParts, caller: Caller, body: Json, render: RenderToken): Promise<Json> {
  if (!isJsonObject(body)) throw new DomainError('invalid', 'The body must be an object.');
  const listed = listedIds(body);
  const { tokenIds, configuration } =
    listed === undefined ? findReferences(body) : { tokenIds: listed, configuration: [] };
  if (configuration.length > 0) {
    throw new DomainError('invalid', 'Configuration can be named in reactors and proxies only.');
  }
  const tokens = await resolveTokens(parts, caller, {
    ids: tokenIds,
    permission: 'token:read',
    operation: 'detokenize',
    limit: caller.quotas.detokenize,
  });
  if (listed !== undefined) return { tokens: listed.map((id) => render(showEnriched(tokens.get(id)!))) };
  return resolveReferences(body, { tokens: referable(tokens, render) });
}
