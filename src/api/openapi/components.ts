import type { Schema } from '../route.ts';
import type { HeaderDefinition, HeaderDefinitions } from './headers.ts';

/** The parts of a document that have a name, each written once. */
export interface Components {
  /**
   * The schema with every part that has a title put under that name, and referred to in its place. Examples are left
   * out: those of an answer stand beside its schema.
   */
  refer(schema: Schema): Schema;
  /** The headers of an answer, each written once; one that differs from the first of its name stands for itself. */
  referHeaders(headers: HeaderDefinitions): object;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly headers: HeaderDefinitions;
}

/** Members of a schema that hold another schema, or schemas by name. */
const ONE = ['items', 'additionalProperties', 'propertyNames'];
const BY_NAME = ['properties'];

/** Collects what has a name. Throws where two different schemas have the same title: one name would mean two things. */
export function createComponents(): Components {
  const schemas: Record<string, Schema> = {};
  const headers: Record<string, HeaderDefinition> = {};

  function referMember([keyword, value]: [string, unknown]): [string, unknown] {
    if (typeof value !== 'object' || value === null) return [keyword, value];
    if (ONE.includes(keyword)) return [keyword, refer(value as Schema)];
    if (!BY_NAME.includes(keyword)) return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, refer(one as Schema)]))];
  }

  function refer({ title, examples: _, ...schema }: Schema): Schema {
    const referred = Object.fromEntries(Object.entries(schema).map(referMember));
    if (typeof title !== 'string') return referred;
    const known = schemas[title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(referred)) {
      throw new Error(`Two schemas are named ${title}`);
    }
    schemas[title] = referred;
    return { $ref: `#/components/schemas/${title}` };
  }

  function referHeader([name, header]: [string, HeaderDefinition]): [string, object] {
    headers[name] ??= header;
    const same = JSON.stringify(headers[name]) === JSON.stringify(header);
    return [name, same ? { $ref: `#/components/headers/${name}` } : header];
  }

  return {
    refer,
    referHeaders: (ofAnswer) => Object.fromEntries(Object.entries(ofAnswer).map(referHeader)),
    schemas,
    headers,
  };
}
