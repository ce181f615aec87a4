import type { NamedMembers } from '../../domain/json-guard.ts';
import type { Schema } from '../route.ts';

function schemaOf(schema: Schema, key: string | number): Schema | undefined {
  if (typeof key === 'number') return schema['items'] as Schema | undefined;
  const { properties = {}, additionalProperties: others } = schema as {
    properties?: Record<string, Schema>;
    additionalProperties?: Schema | boolean;
  };
  if (Object.hasOwn(properties, key)) return properties[key];
  // The names in a map of texts, such as metadata, are no secrets.
  return typeof others === 'object' ? others : undefined;
}

/** What a body's schema names, as far as it describes the body: below `data`, and in payloads, it names nothing. */
export function membersNamedBy(schema: Schema): NamedMembers {
  return (key) => {
    const child = schemaOf(schema, key);
    return child && membersNamedBy(child);
  };
}
