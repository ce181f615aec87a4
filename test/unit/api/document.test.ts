import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { mountRoutes, type MountOptions } from '../../../src/api/mount.ts';
import { createDocument } from '../../../src/api/openapi/document.ts';
import type { Route } from '../../../src/api/route.ts';
import { mountServiceRoutes } from '../../../src/api/service-routes.ts';
import { PERMISSION_NAMES } from '../../../src/domain/permissions.ts';
import { createHealth } from '../../../src/platform/health.ts';
import { declaredRoutes } from '../../support/declared-routes.ts';
import {
  type Content,
  createContract,
  type DocumentContract,
  type OpenApiDocument,
  type Operation,
  type SchemaObject,
} from '../../support/openapi.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const KNOWN_FORMATS = ['uuid', 'date-time'];

/** Every schema in a schema, with the path to it. */
function* schemasIn(schema: SchemaObject, path: string): Generator<[string, SchemaObject]> {
  yield [path, schema];
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* schemasIn(member, `${path}.${name}`);
  if (schema.items) yield* schemasIn(schema.items, `${path}[]`);
}

/** What requests and answers of the operation hold, by media type. */
function bodiesOf({ requestBody, responses }: Operation): [mediaType: string, content: Content][] {
  return [requestBody, ...Object.values(responses)].flatMap((holder) => Object.entries(holder?.content ?? {}));
}

describe('the OpenAPI document of the declared routes', () => {
  let routes: Route[];
  let document: OpenApiDocument;
  let contract: DocumentContract;
  let everything: DocumentContract['operations'];

  before(async () => {
    routes = await declaredRoutes();
    const made = createDocument(routes, { version: '1.2.3', headerPrefix: 'SVC' });
    document = JSON.parse(JSON.stringify(made)) as OpenApiDocument;
    contract = createContract(document);
    everything = [...contract.operations, ...contract.serviceOperations];
  });

  it('is OpenAPI 3.1, says an independent validator', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(document as unknown as Record<string, unknown>);
    expect(errors).to.equal(undefined);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
  });

  it('has what is mounted, and nothing else', () => {
    // Mounting calls none of its parts.
    const router = mountRoutes(routes, { headerPrefixes: ['SVC'] } as unknown as MountOptions);
    mountServiceRoutes(router, document as unknown as Record<string, unknown>, createHealth());
    const mounted = router.stack
      .filter(({ path }) => !String(path).endsWith('{/*below}'))
      .flatMap(({ methods, path }) =>
        methods
          .filter((method) => method !== 'HEAD')
          .map((method) => `${method.toLowerCase()} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`),
      );
    const served = everything.filter((operation) => !contract.unservedOperations.includes(operation));
    expect(served.map(({ method, path }) => `${method} ${path}`)).to.have.members(mounted);
  });

  it('has what clients know of paths that are not served, with their refusals alone, at the end', () => {
    const unserved = routes.filter(({ method }) => method === 'all');
    const known = unserved.flatMap(({ known = [] }) => known);
    expect(known).not.to.have.length(0);
    const documented = contract.unservedOperations.map(({ method, path, operation }) => ({
      ...{ method, path, operationId: operation.operationId, summary: operation.summary },
    }));
    expect(documented).to.have.deep.members(known);
    for (const { path, operation } of contract.unservedOperations) {
      const [route] = unserved.filter((one) => path === one.path || path.startsWith(`${one.path}/`));
      const [status] = Object.keys(route!.responses);
      expect(operation.responses).to.have.all.keys('401', '429', '431', '500', '503', status!);
      if (status === '501') expect(operation.description).to.match(/^Not available in this release\./);
      const headers = Object.keys(contract.headersOf(operation.responses[status!]!));
      const deprecating = ['Deprecation', 'Sunset', 'Link'].filter((name) => headers.includes(name));
      expect(deprecating).to.have.length(status === '410' ? 3 : 0);
      expect('deprecated' in operation).to.equal(status === '410');
    }
    expect(document.tags.at(-1)).to.have.property('name', 'Not served');
  });

  it('names each operation once, under a tag that it describes', () => {
    const ids = everything.map(({ operation }) => operation.operationId);
    expect(new Set(ids)).to.have.property('size', ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation, method } of everything) {
      expect(METHODS).to.include(method);
      expect(tags).to.include.members(operation.tags);
      expect(operation.summary).not.to.equal('');
      expect(operation.description).not.to.equal('');
    }
    expect(new Set(everything.flatMap(({ operation }) => operation.tags))).to.have.property('size', tags.length);
    for (const { description } of document.tags) expect(description).not.to.equal('');
  });

  it('asks for a key and for permissions that there are', () => {
    expect(document.security).to.deep.equal([{ applicationKey: [] }]);
    for (const { operation } of contract.operations) {
      expect(operation.security).to.have.length(1);
      const [permissions] = Object.values(operation.security[0]!) as [string[]];
      expect(PERMISSION_NAMES).to.include.members(permissions);
      for (const permission of permissions) expect(operation.description).to.include(`Permission: \`${permission}\`.`);
    }
  });

  it('declares every part of a path as a required parameter, and no other', () => {
    for (const { path, operation } of everything) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(declared.map(({ name }) => name)).to.have.members(inPath);
      for (const { required } of declared) expect(required, path).to.equal(true);
    }
  });

  it('refers to everything that it has under components, and to nothing else', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    const { schemas, headers } = document.components;
    const named = [
      ...Object.keys(schemas).map((name) => `schemas/${name}`),
      ...Object.keys(headers).map((name) => `headers/${name}`),
    ];
    expect([...new Set(references)]).to.have.members(named);
  });

  it('describes every member, parameter and header, and uses no format of its own making', () => {
    const inline = everything.flatMap(({ operation }) =>
      bodiesOf(operation).map(([, { schema }]): [string, SchemaObject] => [operation.operationId, schema]),
    );
    for (const [name, schema] of [...Object.entries(document.components.schemas), ...inline]) {
      for (const [path, { properties = {} }] of schemasIn(schema, name)) {
        for (const [member, { description, $ref }] of Object.entries(properties)) {
          const told = description ?? ($ref === undefined ? undefined : contract.resolve({ $ref }).description);
          expect(told, `${path}.${member}`).to.be.a('string').that.is.not.equal('');
        }
      }
    }
    for (const { operation } of everything) {
      for (const { name, description } of operation.parameters ?? []) expect(description, name).not.to.equal('');
      for (const response of Object.values(operation.responses)) {
        for (const [name, { description }] of Object.entries(contract.headersOf(response))) {
          expect(description, name).to.be.a('string').that.is.not.equal('');
        }
      }
    }
    const formats = [...JSON.stringify(document).matchAll(/"format":"([^"]+)"/g)].map(([, format]) => format!);
    expect(KNOWN_FORMATS).to.include.members([...new Set(formats)]);
  });

  it('has an example of every body, which its schema accepts', () => {
    for (const { path, method, operation } of everything) {
      for (const [mediaType, { schema, example }] of bodiesOf(operation)) {
        // The document and its page are examples of themselves.
        if (path === '/openapi.json' || mediaType === 'text/html') continue;
        const what = `${method} ${path}: ${mediaType}`;
        expect(example, what).not.to.equal(undefined);
        expect(contract.faultOf(schema, example), what).to.equal(undefined);
      }
    }
  });

  it('gives every operation a success, the refusal of a bad key, and problems as bodies of its failures', () => {
    for (const { method, path, operation } of contract.operations) {
      const statuses = Object.keys(operation.responses);
      expect(
        statuses.some((status) => status.startsWith('2')),
        `${method} ${path}`,
      ).to.equal(!contract.unservedOperations.some((unserved) => unserved.operation === operation));
      expect(statuses).to.include('401');
      expect(contract.headersOf(operation.responses['401']!)).to.include.keys('WWW-Authenticate');
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        expect(description, `${method} ${path} ${status}`).not.to.equal('');
        if (Number(status) >= 400) expect(content).to.have.all.keys('application/problem+json');
      }
    }
  });

  it('refuses two meanings of one name, and a tag that nobody described', () => {
    const [first] = routes;
    const twins = [404, 405].map((limit, index): Route => ({
      ...first!,
      path: `/twin-${index}`,
      responses: { 200: { description: 'A twin.', schema: { title: 'Twin', type: 'object', maxProperties: limit } } },
    }));
    expect(() => createDocument(twins, { version: '1', headerPrefix: 'SVC' })).to.throw('Two schemas are named Twin');
    const stray: Route = { ...first!, tag: 'Strays' };
    expect(() => createDocument([stray], { version: '1', headerPrefix: 'SVC' })).to.throw(
      'without a description: Strays',
    );
  });
});
