import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { childPath } from '../../domain/json-guard.ts';
import type { TokenInput } from './form.ts';

/** What in a payload becomes a token. */
export interface Secret {
  path: string;
  /** A whole token object, answered as one; a primitive is answered by its id. */
  whole: boolean;
  input: TokenInput;
}

function isTokenObject(value: JsonObject): boolean {
  return typeof value['type'] === 'string' && 'data' in value;
}

/**
 * Copies a payload with everything secret in it replaced, in an order that is the same each time: an object with `type`
 * and `data`, as a whole, and any other primitive but null.
 */
export function replaceSecrets(payload: Json, replace: (whole: boolean) => Json): Json {
  if (payload === null) return null;
  if (Array.isArray(payload)) return payload.map((element) => replaceSecrets(element, replace));
  if (!isJsonObject(payload)) return replace(false);
  if (isTokenObject(payload)) return replace(true);
  return Object.fromEntries(Object.entries(payload).map(([name, member]) => [name, replaceSecrets(member, replace)]));
}

function* walkSecrets(payload: Json, path: string): Generator<Secret, undefined> {
  if (payload === null) return;
  if (Array.isArray(payload)) {
    for (const [index, element] of payload.entries()) {
      if (element !== null) yield* walkSecrets(element, childPath(path, index));
    }
  } else if (!isJsonObject(payload)) {
    yield { path, whole: false, input: { type: 'token', data: payload } };
  } else if (isTokenObject(payload)) {
    yield { path, whole: true, input: payload as unknown as TokenInput };
  } else {
    for (const name of Object.keys(payload)) yield* walkSecrets(payload[name]!, childPath(path, name));
  }
}

/**
 * In the order in which `replaceSecrets` meets them, of a payload that lies at `path` in its body. Ends after `most`: a
 * payload may hold half a million.
 */
export function secretsOf(payload: Json, path: string, most: number): Secret[] {
  const secrets: Secret[] = [];
  for (const secret of walkSecrets(payload, path)) {
    if (secrets.push(secret) >= most) break;
  }
  return secrets;
}
