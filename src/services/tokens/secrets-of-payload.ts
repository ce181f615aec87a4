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
 * and `data`, and any other primitive but null.
 */
export function replaceSecrets(payload: Json, replace: (secret: Secret) => Json, path = ''): Json {
  if (payload === null) return null;
  if (Array.isArray(payload)) {
    return payload.map((element, index) => replaceSecrets(element, replace, childPath(path, index)));
  }
  if (!isJsonObject(payload)) return replace({ path, whole: false, input: { type: 'token', data: payload } });
  if (isTokenObject(payload)) return replace({ path, whole: true, input: payload as unknown as TokenInput });
  return Object.fromEntries(
    Object.entries(payload).map(([name, member]) => [name, replaceSecrets(member, replace, childPath(path, name))]),
  );
}

/** In the order in which `replaceSecrets` meets them, of a payload that lies at `path` in its body. */
export function secretsOf(payload: Json, path: string): Secret[] {
  const secrets: Secret[] = [];
  const collect = (secret: Secret): null => {
    secrets.push(secret);
    return null;
  };
  replaceSecrets(payload, collect, path);
  return secrets;
}
