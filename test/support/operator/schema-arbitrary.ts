import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/domain/json.ts';
import type { StructuralSchema } from '../../../src/operator/schema/structural-schema.ts';

/**
 * Values that mostly keep to a schema: of its types, from its choices, near its bounds. Its rules and patterns are met
 * now and then, by texts that other fields of our definitions take.
 */
export function arbitraryOf(schema: StructuralSchema): fc.Arbitrary<Json> {
  const { minimum = -1, maximum = 10, minItems = 0, maxItems = 3, items, additionalProperties, required = [] } = schema;
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return mostly(fc.integer({ min: minimum, max: maximum }), fc.integer({ min: minimum - 1, max: maximum + 1 }));
    case 'string':
      return schema.enum === undefined ? fc.constantFrom(...TEXTS) : fc.constantFrom(...schema.enum);
    case 'array': {
      const item = items === undefined ? fc.constant(null) : arbitraryOf(items);
      return fc.array(item, { minLength: minItems, maxLength: Math.min(Math.max(minItems, 2), maxItems) });
    }
    case 'object': {
      if (additionalProperties !== undefined) {
        return fc.dictionary(fc.constantFrom('a', 'team', 'REGION'), arbitraryOf(additionalProperties), { maxKeys: 3 });
      }
      const members = Object.entries(schema.properties ?? {}).map(([name, child]) => [name, arbitraryOf(child)]);
      const arbitraries = Object.fromEntries(members) as Record<string, fc.Arbitrary<Json>>;
      const whole = fc.record(arbitraries, { requiredKeys: required }) as fc.Arbitrary<JsonObject>;
      return mostly(whole, fc.record(arbitraries, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>);
    }
  }
}

/** Whatever JSON carries, small; with names of members that the API server's messages render as they are. */
export function arbitraryJson(): fc.Arbitrary<Json> {
  const scalar = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.double({ noNaN: true }), fc.string());
  const names = fc.constantFrom('a', 'name', 'type', 'unknown-member');
  return fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(names, scalar, { maxKeys: 3 }));
}

function mostly(usual: fc.Arbitrary<Json>, odd: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

const TEXTS = [
  ...['a', 'payments', 'api-key', '/', '/pci/high/', '24h', '1h', '720h', '0s', '256Mi', '1Gi'],
  ...['2030-01-31T00:00:00Z', 'example.com/stage', '', 'A b', 'é😀', 'a'.repeat(64)],
];
