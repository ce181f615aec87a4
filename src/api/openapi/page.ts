import type { JsonObject } from '../../domain/json.ts';
import type { Schema } from '../route.ts';
import { operationSection, type PageParts, type PlacedOperation } from './page-operation.ts';
import { schemaTable, typeOf } from './page-schema.ts';
import { PAGE_STYLE } from './page-style.ts';
import { escapeHtml, inline, prose } from './page-text.ts';

interface Tag {
  readonly name: string;
  readonly description: string;
}

interface PageDocument {
  readonly info: Record<string, string>;
  readonly tags: readonly Tag[];
  readonly paths: Record<string, Record<string, JsonObject>>;
  readonly components: {
    readonly schemas: PageParts['schemas'];
    readonly headers: Readonly<Record<string, JsonObject>>;
    readonly securitySchemes: { readonly applicationKey: { readonly name: string; readonly description: string } };
  };
}

function anchorOf(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(' ', '-')}`;
}

function operationsOf(paths: PageDocument['paths'], tag: string): PlacedOperation[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => (operation['tags'] as string[]).includes(tag));
}

function navigation({ tags, paths }: PageDocument): string {
  const groups = tags.map(({ name }) => {
    const entries = operationsOf(paths, name).map(
      ({ path, method, operation }) =>
        `<li><a href="#${operation['operationId'] as string}"><span class="method ${method}">${method}</span> ` +
        `<span>${escapeHtml(path)}</span></a></li>`,
    );
    return `<a class="tag" href="#${anchorOf(name)}">${escapeHtml(name)}</a><ul>${entries.join('')}</ul>`;
  });
  return `<nav aria-label="Operations">${groups.join('')}<a class="tag" href="#schemas">Schemas</a><br><a class="tag" href="#headers">Headers of answers</a></nav>`;
}

function schemaSection([name, schema]: [string, JsonObject], parts: PageParts): string {
  return (
    `<section id="schema-${name}"><h3><a href="#schema-${name}">${name}</a></h3>${prose(schema['description'])}` +
    `${schemaTable(schema, parts.schemas) || `<p>${typeOf(schema)}</p>`}</section>`
  );
}

function headerSection([name, { description, schema, example }]: [string, JsonObject]): string {
  return (
    `<section id="header-${name}"><h3><a href="#header-${name}">${name}</a></h3>${prose(description)}` +
    `<p>${typeOf(schema as JsonObject)}${example === undefined ? '' : `, such as <code>${escapeHtml(example as string)}</code>`}</p></section>`
  );
}

/** The OpenAPI document as one page for people: no script, nothing fetched from anywhere. */
export function renderPage(document: Schema): string {
  const page = document as unknown as PageDocument;
  const { info, tags, paths, components } = page;
  const { name: keyHeader, description: keyDescription } = components.securitySchemes.applicationKey;
  const parts: PageParts = { schemas: components.schemas, keyHeader };
  const sections = tags.map(
    ({ name, description }) =>
      `<h2 id="${anchorOf(name)}">${escapeHtml(name)}</h2>${prose(description)}` +
      operationsOf(paths, name)
        .map((placed) => operationSection(placed, parts))
        .join(''),
  );
  const schemas = Object.entries(components.schemas)
    .sort(([left], [right]) => left.localeCompare(right))
    .map((entry) => schemaSection(entry, parts));
  const headers = Object.entries(components.headers).map(headerSection);
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${info['title']} API</title><style>${PAGE_STYLE}</style>${navigation(page)}<main><h1>${info['title']} API ` +
    `<small>${info['version']}</small></h1>${prose(info['description'])}` +
    `<p>Each request carries a key in the header <code>${keyHeader}</code>. ${inline(keyDescription)}</p>` +
    `<p>For programs: <a href="/openapi.json">openapi.json</a>. What is marked <span class="required">*</span> is required ` +
    `of a request, and always there in an answer.</p>${sections.join('')}` +
    `<h2 id="schemas">Schemas</h2>${schemas.join('')}` +
    `<h2 id="headers">Headers of answers</h2>${headers.join('')}</main></html>`
  );
}
