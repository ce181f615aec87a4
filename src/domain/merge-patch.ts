import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Applies a JSON merge patch (RFC 7386, section 2). Neither argument is changed. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const members = new Map<string, Json>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  // fromEntries defines members instead of assigning them, so that `__proto__` stays a member.
  return Object.fromEntries(members) satisfies JsonObject;
}
