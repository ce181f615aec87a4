import type { Json } from '../../domain/json.ts';
import { isJsonObject } from '../../domain/json.ts';
import { childSchema } from './structural-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * A copy of `value` in which absent members have their defaults, as the Kubernetes API server fills them in: parents
 * first, so that the members of a defaulted object get theirs too. A member that is null counts as absent.
 */
export function withDefaults(schema: StructuralSchema, value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => (schema.items ? withDefaults(schema.items, item) : item));
  if (!isJsonObject(value)) return value;
  const isAbsent = ([member, content]: [string, Json]) => content === null && childSchema(schema, member) !== undefined;
  const filled = new Map(Object.entries(value).filter((entry) => !isAbsent(entry)));
  for (const [member, child] of Object.entries(schema.properties ?? {})) {
    if (!filled.has(member) && child.default !== undefined) filled.set(member, structuredClone(child.default));
  }
  for (const [member, content] of filled) {
    const child = childSchema(schema, member);
    if (child !== undefined) filled.set(member, withDefaults(child, content));
  }
  return Object.fromEntries(filled);
}
