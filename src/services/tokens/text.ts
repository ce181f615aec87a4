import type { Json } from '../../domain/json.ts';

/** An expression's value where text is needed: an id, what is hashed. Nothing gives the empty text. */
export function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
