import { createHmac } from 'node:crypto';
import { isJsonObject } from '../../../domain/json.ts';
import type { Json } from '../../../domain/json.ts';

/** HMAC-SHA-256, the same for specs that differ in the order of their members only. */
export function digestOfSpec(spec: Json, salt: string): string {
  return createHmac('sha256', salt)
    .update(JSON.stringify(sorted(spec)))
    .digest('hex');
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([member, content]) => [member, sorted(content)]));
}
