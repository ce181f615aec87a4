import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { Parameter, Schema } from '../route.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 2rem 1rem 6rem; max-width: 60rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); } nav ul { columns: 2; padding-left: 1rem; }
code, pre { font: 0.875em ui-monospace, monospace; } pre { background: var(--soft); padding: .75rem; overflow-x: auto; }
section { margin: 1.5rem 0 2.5rem; } .method { text-transform: uppercase; font-weight: 700; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { border-bottom: 1px solid var(--line); text-align: left; padding: .3rem .6rem .3rem 0; vertical-align: top; }
summary { cursor: pointer; }
`;

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

// Descriptions use one piece of Markdown: code between backticks.
function prose(text: Json | undefined): string {
  if (typeof text !== 'string') return '';
  return escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll('\n\n', '</p><p>');
}

function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema['enum'])) return (schema['enum'] as string[]).join(' | ');
  const type = ([schema['type'] ?? 'any'].flat() as string[]).join(' or ');
  const items = isJsonObject(schema['items']) ? ` of ${typeOf(schema['items'])}` : '';
  return type + items + (typeof schema['format'] === 'string' ? ` (${schema['format']})` : '');
}

function limitsOf(schema: JsonObject): string {
  const names = ['default', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties'];
  return names.flatMap((name) => (name in schema ? [`${name} ${JSON.stringify(schema[name])}`] : [])).join(', ');
}

function memberRows(schema: JsonObject, prefix: string): string {
  const members = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(members)
    .map(([name, member]) => {
      if (!isJsonObject(member)) return '';
      const nested = isJsonObject(member['items']) ? member['items'] : member;
      const path = prefix + name;
      return (
        `<tr><td><code>${escapeHtml(path)}</code>${required.includes(name) ? ' *' : ''}</td>` +
        `<td>${escapeHtml(typeOf(member))}</td><td>${prose(member['description'])} ${escapeHtml(limitsOf(member))}</td></tr>` +
        memberRows(nested, `${path}${nested === member ? '.' : '[].'}`)
      );
    })
    .join('');
}

function schemaTable(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return '';
  const rows = memberRows(schema, '');
  const description = prose(schema['description']);
  return (description && `<p>${description}</p>`) + (rows && `<table><tr><th>Field<th>Type<th></tr>${rows}</table>`);
}

function firstContent(holder: Json | undefined): { mediaType: string; content: JsonObject } | undefined {
  if (!isJsonObject(holder) || !isJsonObject(holder['content'])) return undefined;
  const [first] = Object.entries(holder['content']);
  return first && isJsonObject(first[1]) ? { mediaType: first[0], content: first[1] } : undefined;
}

function parameterTable(parameters: Json | undefined): string {
  if (!Array.isArray(parameters) || parameters.length === 0) return '';
  const rows = parameters.map((parameter) => {
    if (!isJsonObject(parameter) || !isJsonObject(parameter['schema'])) return '';
    const { name, in: place, schema, description, required } = parameter as unknown as Parameter;
    return (
      `<tr><td><code>${escapeHtml(name)}</code>${required ? ' *' : ''}</td><td>${place}, ` +
      `${escapeHtml(typeOf(schema as JsonObject))}</td><td>${prose(description)} ` +
      `${escapeHtml(limitsOf(schema as JsonObject))}</td></tr>`
    );
  });
  return `<table><tr><th>Parameter<th>Type<th></tr>${rows.join('')}</table>`;
}

function responseList(responses: Json | undefined): string {
  if (!isJsonObject(responses)) return '';
  return Object.entries(responses)
    .map(([status, response]) => {
      const description = isJsonObject(response) ? prose(response['description']) : '';
      const table = Number(status) < 400 ? schemaTable(firstContent(response)?.content['schema']) : '';
      const head = `<strong>${status}</strong> ${description}`;
      return table ? `<details><summary>${head}</summary>${table}</details>` : `<div>${head}</div>`;
    })
    .join('');
}

function operationSection(path: string, method: string, operation: JsonObject): string {
  const body = firstContent(operation['requestBody']);
  const example = body?.content['example'];
  return (
    `<section id="${operation['operationId'] as string}"><h3><span class="method">${method}</span> ` +
    `<code>${escapeHtml(path)}</code></h3><p>${prose(operation['summary'])}</p><p>${prose(operation['description'])}</p>` +
    parameterTable(operation['parameters']) +
    (body ? `<h4>Body <code>${body.mediaType}</code></h4>${schemaTable(body.content['schema'])}` : '') +
    (example === undefined ? '' : `<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>`) +
    `<h4>Answers</h4>${responseList(operation['responses'])}</section>`
  );
}

/** The OpenAPI document as one page for people: no script, nothing fetched from anywhere. */
export function renderPage(document: Schema): string {
  const { info, tags, paths } = document as {
    info: Record<string, string>;
    tags: { name: string }[];
    paths: JsonObject;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, JsonObject>).map(([method, operation]) => ({ path, method, operation })),
  );
  const ofTag = (tag: string) => operations.filter(({ operation }) => (operation['tags'] as string[]).includes(tag));
  const index = operations.map(
    ({ path, method, operation }) =>
      `<li><a href="#${operation['operationId'] as string}"><span class="method">${method}</span> <code>${escapeHtml(path)}</code></a>`,
  );
  const sections = tags.map(
    ({ name }) =>
      `<h2>${escapeHtml(name)}</h2>` +
      ofTag(name)
        .map(({ path, method, operation }) => operationSection(path, method, operation))
        .join(''),
  );
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${info['title']} API</title><style>${STYLE}</style><h1>${info['title']} API ` +
    `<small>${info['version']}</small></h1><p>${prose(info['description'])}</p>` +
    `<p>Machine-readable: <a href="/openapi.json">openapi.json</a>. Fields marked * are required.</p>` +
    `<nav><ul>${index.join('')}</ul></nav>${sections.join('')}</html>`
  );
}
