import type { DocumentContract, SchemaObject } from './openapi.ts';

/**
 * The members that a schema documents and, where a value is given, that the value has. They are named by the schema
 * that documents them (`Token.data`), or by `path` where it has no name.
 */
export function fieldsOf(
  contract: DocumentContract,
  schema: SchemaObject,
  path: string,
  value?: { of: unknown },
): string[] {
  const found: string[] = [];
  const visited = new Set<string>();

  function visit(one: SchemaObject, at: string, given?: { of: unknown }): void {
    const name = one.$ref?.split('/').at(-1);
    if (name !== undefined && given === undefined) {
      if (visited.has(name)) return;
      visited.add(name);
    }
    const { properties = {}, items } = contract.resolve(one);
    const place = name ?? at;
    const values = given?.of;
    if (items && given === undefined) visit(items, `${place}[]`);
    if (items && Array.isArray(values)) for (const of of values) visit(items, `${place}[]`, { of });
    for (const [member, below] of Object.entries(properties)) {
      if (given !== undefined && !(typeof values === 'object' && values !== null && Object.hasOwn(values, member)))
        continue;
      found.push(`${place}.${member}`);
      visit(below, `${place}.${member}`, given && { of: (values as Record<string, unknown>)[member] });
    }
  }

  visit(schema, path, value);
  return found;
}
