import type { Schema } from './schema.ts';

/** A line of a table. */
export interface Field {
  /** As `spec.rules[].priority`, or `spec.configuration.*` for the entries of a map. */
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** What is below a member, in the order of the definition: entries of lists and maps stand for all of them. */
export function fieldsOf(schema: Schema, prefix: string): Field[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}.${name}`;
    return [{ path, schema: member, required: required.has(name) }, ...below(member, path)];
  });
}

function below(schema: Schema, path: string): Field[] {
  const element = schema.items ?? schema.additionalProperties;
  if (element === undefined) return fieldsOf(schema, path);
  const elementPath = schema.items === undefined ? `${path}.*` : `${path}[]`;
  // Its description is that of what it is an element of, unless it has members of its own.
  return element.properties === undefined ? [] : fieldsOf(element, elementPath);
}

export function typeOf(schema: Schema): string {
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties)}`;
  return schema.type;
}

/** The values that an enum lists, its own or that of the entries of a list. */
export function valuesOf(schema: Schema): readonly string[] {
  return schema.enum ?? schema.items?.enum ?? [];
}

/** Bounds, as `1 to 30`. */
export function boundsOf(schema: Schema): string[] {
  const bounds = [
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' entries'),
    schema.properties === undefined ? range(schema.minProperties, schema.maxProperties, ' entries') : '',
  ];
  return bounds.filter((bound) => bound !== '');
}

function range(least: number | undefined, most: number | undefined, of: string): string {
  const written = (value: number): string => value.toLocaleString('en');
  if (least !== undefined && most !== undefined) return `${written(least)} to ${written(most)}${of}`;
  if (most !== undefined) return `at most ${written(most)}${of}`;
  return least === undefined ? '' : `at least ${written(least)}${of}`;
}
