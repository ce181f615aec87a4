import { createHash } from 'node:crypto';
import { isJsonObject } from '../../../domain/json.ts';
import type { Json } from '../../../domain/json.ts';

/** The same for specs that differ in the order of their members only. */
export function digestOfSpec(spec: Json): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(spec)))
    .digest('hex');
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([member, content]) => [member, sorted(content)]));
}
