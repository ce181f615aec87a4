import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { codeBlock, escapeHtml, inline } from './page-text.ts';

/** The schemas that have a name. */
export type NamedSchemas = Readonly<Record<string, JsonObject>>;

const LIMITS: readonly (readonly [keyword: string, before: string, after: string])[] = [
  ['default', 'default', ''],
  ['minimum', 'at least', ''],
  ['maximum', 'at most', ''],
  ['minLength', 'at least', ' characters'],
  ['maxLength', 'at most', ' characters'],
  ['minItems', 'at least', ' entries'],
  ['maxItems', 'at most', ' entries'],
  ['maxProperties', 'at most', ' entries'],
  ['pattern', 'of the form', ''],
];

function nameOf(schema: JsonObject): string | undefined {
  return typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
}

/** What a schema refers to, or it itself. */
function resolveSchema(schema: JsonObject, named: NamedSchemas): JsonObject {
  const name = nameOf(schema);
  return name === undefined ? schema : (named[name] ?? {});
}

/** The type of a schema in words; names lead to where they are described. */
export function typeOf(schema: JsonObject): string {
  const name = nameOf(schema);
  if (name !== undefined) return `<a href="#schema-${name}">${name}</a>`;
  if (isJsonObject(schema['items'])) return `array of ${typeOf(schema['items'])}`;
  const { type, format, enum: values } = schema;
  const words =
    type === undefined ? (values === undefined ? 'any' : 'one of') : ([type].flat() as string[]).join(' or ');
  const map = isJsonObject(schema['additionalProperties']) && !schema['properties'];
  return (
    words +
    (typeof format === 'string' ? ` (${format})` : '') +
    (map ? ` of ${typeOf(schema['additionalProperties'] as JsonObject)}` : '')
  );
}

function valueCode(value: Json | undefined): string {
  return `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;
}

/** What a value must keep to, in words. */
function limitsOf(schema: JsonObject): string {
  const items = isJsonObject(schema['items']) ? schema['items'] : {};
  const values = schema['enum'] ?? items['enum'];
  const allowed = Array.isArray(values) ? values.map(valueCode).join(' ') : '';
  const limits = LIMITS.flatMap(([keyword, before, after]) =>
    keyword in schema ? [`${before} ${valueCode(schema[keyword])}${after}`] : [],
  );
  const told = [allowed && `one of ${allowed}`, ...limits].filter(Boolean).join(', ');
  return told && ` <span class="limits">${told}</span>`;
}

/** A row of a table of members or parameters. `depth`: how many members it lies below the outermost ones. */
export function row(
  name: string,
  required: boolean,
  type: string,
  schema: JsonObject,
  description: Json | undefined,
  depth = 0,
): string {
  const mark = required ? ' <span class="required" title="required">*</span>' : '';
  const label = `<code>${escapeHtml(name)}</code>${mark}`;
  const indented = depth === 0 ? label : `${'<span class="in">'.repeat(depth)}${label}${'</span>'.repeat(depth)}`;
  const words = typeof description === 'string' ? inline(description) : '';
  return `<tr><td>${indented}</td><td>${type}</td><td>${words}${limitsOf(schema)}</td></tr>`;
}

function memberRows(schema: JsonObject, named: NamedSchemas, above: readonly JsonObject[]): string {
  // A schema that has itself among its members is described once.
  if (above.includes(schema)) return '';
  const members = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(members)
    .map(([name, member]) => {
      if (!isJsonObject(member)) return '';
      const resolved = resolveSchema(member, named);
      const items = isJsonObject(resolved['items']) ? resolveSchema(resolved['items'], named) : resolved;
      const description = member['description'] ?? resolved['description'];
      return (
        row(name, required.includes(name), typeOf(member), resolved, description, above.length) +
        memberRows(items, named, [...above, schema])
      );
    })
    .join('');
}

/** A table of a schema's members and of those below them; nothing where it names none. */
export function schemaTable(schema: JsonObject, named: NamedSchemas): string {
  const rows = memberRows(resolveSchema(schema, named), named, []);
  return rows && `<div class="scroll"><table><tr><th>Member<th>Type<th>Meaning</tr>${rows}</table></div>`;
}

/** An example, where there is one. */
export function exampleOf(content: JsonObject): string {
  return content['example'] === undefined ? '' : `<h4>Example</h4>${codeBlock(content['example'])}`;
}
