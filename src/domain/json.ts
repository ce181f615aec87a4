/** Any value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object; a member may be absent. */
export type JsonObject = { [member: string]: Json };

/** True for an object, false for arrays, null and primitives. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
