import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import { childSchema } from './structural-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';
import type { Violation } from './violation.ts';

/** Entries of sets, and of lists that are maps by some of their members, that are there before already. */
export function findRepeatedItems(schema: StructuralSchema, value: Json, path: string[] = []): Violation[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const nested = value.map((item, index) =>
      items === undefined ? [] : findRepeatedItems(items, item, [...path, String(index)]),
    );
    return [...repeatedIn(schema, value, path), ...nested.flat()];
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([member, content]) => {
    const child = childSchema(schema, member);
    return child === undefined ? [] : findRepeatedItems(child, content, [...path, member]);
  });
}

function repeatedIn(schema: StructuralSchema, list: Json[], path: string[]): Violation[] {
  const identityOf = identityIn(schema);
  if (identityOf === undefined) return [];
  const seen = new Set<string>();
  const violations: Violation[] = [];
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item);
    if (seen.has(identity)) violations.push({ path: [...path, String(index)], message: 'must not repeat an entry' });
    seen.add(identity);
  }
  return violations;
}

function identityIn(schema: StructuralSchema): ((item: Json) => string) | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return (item) => JSON.stringify(item);
    case 'map':
      return (item) => JSON.stringify(isJsonObject(item) ? keys.map((key) => item[key]) : item);
    default:
      return undefined;
  }
}
