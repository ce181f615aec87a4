import { boundsOf, fieldsOf, typeOf, valuesOf, type Field } from './fields.ts';
import type { Definition, Schema } from './schema.ts';

const INTRO = `# Custom resources

Every field of the four kinds, made by \`make generate\` from the definitions in [\`crds/\`](../crds). What they are for,
and how they work together, stands in [declarations.md](declarations.md). In a terminal,
\`kubectl explain applications.tokenkeep.dev.spec.key\` shows the same. A folder that \`tokenkeep standalone\` follows takes
the same files.

A field that is not listed here is refused where \`kubectl apply\` sends it, and in a folder; from other clients, the API
server drops it with a warning.
\`kubectl get tokenkeep -A\` shows all four kinds.`;

/** The page, from parsed definitions in their order. */
export function renderPage(definitions: readonly Definition[]): string {
  const kinds = definitions.map(({ spec }) => spec.names.kind);
  const contents = kinds.map((kind) => `[${kind}](#${kind.toLowerCase()})`).join(' · ');
  return `${[INTRO, contents, ...definitions.map(renderKind)].join('\n\n')}\n`;
}

function renderKind({ spec }: Definition): string {
  const [version] = spec.versions;
  const schema = version.schema.openAPIV3Schema;
  const { kind, plural, shortNames } = spec.names;
  const columns = version.additionalPrinterColumns;
  const facts = [
    ['Names for kubectl', [plural, ...shortNames].map(code).join(', ')],
    ['Lives in', spec.scope === 'Cluster' ? 'the cluster; it has no namespace' : 'a namespace'],
    [
      '`kubectl get` shows',
      columns
        .filter(({ priority = 0 }) => priority === 0)
        .map(nameOf)
        .join(', '),
    ],
    [
      'with `-o wide`, too',
      columns
        .filter(({ priority = 0 }) => priority > 0)
        .map(nameOf)
        .join(', '),
    ],
  ];
  return [
    `## ${kind}`,
    schema.description ?? '',
    table(['', ''], facts),
    `### ${kind}: what you write`,
    schema.properties!.spec!.description ?? '',
    fieldTable(schema.properties!.spec!, 'spec'),
    `### ${kind}: what the operator writes`,
    fieldTable(schema.properties!.status!, 'status'),
  ].join('\n\n');
}

function fieldTable(schema: Schema, name: string): string {
  const rows = fieldsOf(schema, name).map((field) => [
    code(field.path),
    typeOf(field.schema),
    presentDefault(field),
    meaning(field.schema),
  ]);
  return [table(['Field', 'Type', 'Default', 'Meaning'], rows), ...rulesOf(schema, name)].join('\n\n');
}

/** `required` where there is none and one must be given. */
function presentDefault({ schema, required }: Field): string {
  if (required) return 'required';
  // A group with nothing in it: its members have defaults of their own.
  if (schema.default === undefined || (schema.properties !== undefined && isEmpty(schema.default))) return '';
  return code(JSON.stringify(schema.default).replace(/^"(.*)"$/, '$1'));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The description, and what it leaves to the schema: values and bounds that it does not name itself. */
function meaning(schema: Schema): string {
  const description = withoutDefault(schema);
  const values = valuesOf(schema).filter((value) => !description.includes(`\`${value}\``));
  const said = /\d/.test(description);
  const added = [
    values.length === 0 ? '' : `One of ${valuesOf(schema).map(code).join(', ')}.`,
    said ? '' : boundsOf(schema).map(sentence).join(' '),
  ];
  return [description, ...added].filter((part) => part !== '').join(' ');
}

/** The description; the table has a column for what it says of the default. */
function withoutDefault({ description = '', default: value }: Schema): string {
  if (value === undefined) return description;
  return description.replace(/ Default: (?:`[^`]*`|\w+)\./, '').replace(/, default [\w`]+(?=[.,])/, '');
}

/** What is checked beyond single fields, wherever it stands. */
function rulesOf(schema: Schema, name: string): string[] {
  const all = [{ path: name, schema }, ...fieldsOf(schema, name)].flatMap(({ path, schema: member }) => [
    ...messagesOf(member, path),
    ...messagesOf(member.items, `${path}[]`),
  ]);
  return all.length === 0 ? [] : ['Also checked:', all.map((rule) => `- ${rule}`).join('\n')];
}

function messagesOf(schema: Schema | undefined, path: string): string[] {
  return (schema?.['x-kubernetes-validations'] ?? []).map(({ message }) => `${code(path)}: ${message}`);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
}

function code(text: string): string {
  return `\`${text}\``;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
