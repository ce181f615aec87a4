import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { exampleOf, type NamedSchemas, row, schemaTable, typeOf } from './page-schema.ts';
import { codeBlock, escapeHtml, inline, prose } from './page-text.ts';

/** An operation with where it is found. */
export interface PlacedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
}

/** What an operation refers to elsewhere in the document. */
export interface PageParts {
  readonly schemas: NamedSchemas;
  /** Name of the header that takes the key. */
  readonly keyHeader: string;
}

function objectsOf(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function firstContent(holder: Json | undefined): { mediaType: string; content: JsonObject } | undefined {
  if (!isJsonObject(holder) || !isJsonObject(holder['content'])) return undefined;
  const [first] = Object.entries(holder['content']);
  return first && isJsonObject(first[1]) ? { mediaType: first[0], content: first[1] } : undefined;
}

function parameterTable(operation: JsonObject): string {
  const rows = objectsOf(operation['parameters']).map(({ name, in: place, schema, description, required }) => {
    const type = isJsonObject(schema) ? schema : {};
    return row(name as string, required === true, `${place as string}, ${typeOf(type)}`, type, description);
  });
  if (rows.length === 0) return '';
  return `<h4>Parameters</h4><div class="scroll"><table><tr><th>Name<th>Type<th>Meaning</tr>${rows.join('')}</table></div>`;
}

function needsKey({ security }: JsonObject): boolean {
  return objectsOf(security).length > 0;
}

/** What to type to try it: keys, ids and the address are variables of the shell. */
function curlOf({ path, method, operation }: PlacedOperation, { keyHeader }: PageParts): string {
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`);
  const body = firstContent(operation['requestBody']);
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$BASE_URL${target}"`,
    ...(needsKey(operation) ? [`-H "${keyHeader}: $API_KEY"`] : []),
    ...(body ? [`-H 'Content-Type: ${body.mediaType}'`] : []),
    ...(body?.content['example'] === undefined
      ? []
      : [`-d '${JSON.stringify(body.content['example']).replaceAll("'", `'\\''`)}'`]),
  ];
  return codeBlock(lines.join(' \\\n  '));
}

function bodyOf(operation: JsonObject, { schemas }: PageParts): string {
  const body = firstContent(operation['requestBody']);
  if (body === undefined) return '';
  const schema = isJsonObject(body.content['schema']) ? body.content['schema'] : {};
  return (
    `<h4>Body</h4><p>${typeOf(schema)}, sent as <code>${body.mediaType}</code></p>${prose(schema['description'])}` +
    schemaTable(schema, schemas) +
    exampleOf(body.content)
  );
}

function headerList(headers: Json | undefined): string {
  const names = Object.keys(isJsonObject(headers) ? headers : {});
  const links = names.map((name) => `<a href="#header-${name}"><code>${escapeHtml(name)}</code></a>`);
  return links.length === 0 ? '' : `<h4>Headers</h4><p>${links.join(', ')}</p>`;
}

function answerOf(status: string, response: JsonObject, { schemas }: PageParts): string {
  const answer = firstContent(response);
  const schema = answer && isJsonObject(answer.content['schema']) ? answer.content['schema'] : {};
  const isSuccess = status.startsWith('2');
  const told = answer
    ? `<h4>Body</h4><p>${typeOf(schema)}, as <code>${answer.mediaType}</code></p>` +
      (isSuccess && !('$ref' in schema) ? schemaTable(schema, schemas) : '') +
      exampleOf(answer.content)
    : '';
  const kind = isSuccess ? 'get' : status === 'default' ? 'patch' : 'delete';
  const description = typeof response['description'] === 'string' ? inline(response['description']) : '';
  return (
    `<details><summary><span class="status ${kind}">${status}</span>${description}</summary>` +
    `<div>${told}${headerList(response['headers'])}</div></details>`
  );
}

/** One operation: what it takes, what it gives, and how to call it. */
export function operationSection(placed: PlacedOperation, parts: PageParts): string {
  const { path, method, operation } = placed;
  const id = operation['operationId'] as string;
  const responses = isJsonObject(operation['responses']) ? operation['responses'] : {};
  const answers = Object.entries(responses).map(([status, response]) =>
    answerOf(status, response as JsonObject, parts),
  );
  const isServed = Object.keys(responses).some((status) => status.startsWith('2'));
  return (
    `<section id="${id}"><h3><span class="method ${method}">${method}</span> <a href="#${id}"><code>${escapeHtml(path)}</code></a></h3>` +
    `<p>${inline(operation['summary'] as string)}` +
    (operation['deprecated'] === true ? ' <span class="badge old">deprecated</span>' : '') +
    `</p>${prose(operation['description'])}` +
    parameterTable(operation) +
    bodyOf(operation, parts) +
    (isServed ? `<h4>Call</h4>${curlOf(placed, parts)}` : '') +
    `<h4>Answers</h4>${answers.join('')}</section>`
  );
}
