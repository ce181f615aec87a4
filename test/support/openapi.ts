import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import type { Answer, TestVault } from './vault.ts';

export interface SchemaObject {
  $ref?: string;
  properties?: Record<string, SchemaObject>;
  items?: SchemaObject;
  description?: string;
}

export interface Content {
  schema: SchemaObject;
  example?: unknown;
}

export interface HeaderObject {
  description: string;
  required?: boolean;
  schema: object;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, HeaderObject | { $ref: string }>;
  content?: Record<string, Content>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters?: { name: string; in: string; required?: boolean; description: string; schema: SchemaObject }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, ResponseObject>;
  security: Record<string, string[]>[];
}

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, SchemaObject>;
    headers: Record<string, HeaderObject>;
    securitySchemes: object;
  };
  security: object[];
  tags: { name: string; description: string }[];
}

export interface PlacedOperation {
  method: string;
  path: string;
  operation: Operation;
}

/** Holds answers against the document that the vault itself gives out. */
export interface DocumentContract {
  readonly document: OpenApiDocument;
  /** What takes a key. */
  readonly operations: readonly PlacedOperation[];
  /** Those of them that are known and not served. */
  readonly unservedOperations: readonly PlacedOperation[];
  /** What takes none. */
  readonly serviceOperations: readonly PlacedOperation[];
  /** The operation that a request is for. */
  find(method: string, path: string): PlacedOperation | undefined;
  /** What a schema refers to, or it itself. */
  resolve(schema: SchemaObject): SchemaObject;
  headersOf(response: ResponseObject): Record<string, HeaderObject>;
  /** Why a value does not have the schema; undefined where it has. */
  faultOf(schema: object, value: unknown): string | undefined;
  /** Each way in which an answer is not what the document says of its operation. */
  faultsOfAnswer(operation: Operation, answer: Answer): string[];
  /** Fails unless the document has this answer under the operation: its status, headers, media type and body. */
  check(method: string, path: string, answer: Answer): void;
}

/** The contract of one vault. */
export interface Contract extends DocumentContract {
  /** Sends a request and checks its answer. */
  request: TestVault['request'];
}

/** Headers that are about the connection and the body, or that every HTTP server sends, and what browsers are told. */
const FRAMING = /^(access-control-.*|connection|content-length|content-type|date|keep-alive|transfer-encoding|vary)$/;

function matches(template: string, path: string): boolean {
  const parts = path.split('/');
  const templateParts = template.split('/');
  return (
    parts.length === templateParts.length &&
    templateParts.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]))
  );
}

export function createContract(document: OpenApiDocument): DocumentContract {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  addFormats.default(ajv, ['uuid', 'date-time', 'uri']);
  ajv.addKeyword('components');
  ajv.addSchema({ $id: 'http://document/openapi.json', components: { schemas: document.components.schemas } });
  const compiled = new Map<object, ValidateFunction>();

  function resolve(schema: SchemaObject): SchemaObject {
    return schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)!]!;
  }

  function headersOf({ headers = {} }: ResponseObject): Record<string, HeaderObject> {
    const resolved = Object.entries(headers).map(([name, header]): [string, HeaderObject] => [
      name,
      '$ref' in header ? document.components.headers[header.$ref.split('/').at(-1)!]! : header,
    ]);
    return Object.fromEntries(resolved);
  }

  function faultOf(schema: object, value: unknown): string | undefined {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"http://document/openapi.json#/')) as object;
    const validate = compiled.get(schema) ?? ajv.compile(absolute);
    compiled.set(schema, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  }

  function* headerFaults(response: ResponseObject, answer: Answer): Generator<string> {
    const documented = new Map(
      Object.entries(headersOf(response)).map(([name, header]) => [name.toLowerCase(), header] as const),
    );
    // Answers go under the prefix of their request; the document has the first one.
    const given = new Set([...answer.headers.keys()].map((name) => name.replace(/^bt-/, 'svc-')));
    for (const name of given) {
      if (!FRAMING.test(name) && !documented.has(name)) yield `the header ${name} is not documented`;
    }
    for (const [name, { required }] of documented) {
      if (required && !given.has(name)) yield `the header ${name} is missing`;
    }
  }

  function* bodyFaults(response: ResponseObject, answer: Answer): Generator<string> {
    const [mediaType, content] = Object.entries(response.content ?? {})[0] ?? [];
    const sent = answer.headers.get('content-type')?.split(';')[0];
    if (content === undefined) {
      if (answer.body !== undefined) yield 'a body is not documented';
      return;
    }
    if (sent !== mediaType) yield `the body is ${sent}, documented is ${mediaType}`;
    const fault = faultOf(content.schema, answer.body);
    if (fault !== undefined) yield `the body: ${fault}`;
  }

  function faultsOfAnswer({ responses }: Operation, answer: Answer): string[] {
    const isProblem = answer.headers.get('content-type') === 'application/problem+json';
    // What may be answered in any way, may be with any status.
    if (responses['default'] !== undefined && !isProblem) return [];
    const response = responses[answer.status];
    if (response === undefined) return [`the status ${answer.status} is not documented`];
    return [...headerFaults(response, answer), ...bodyFaults(response, answer)];
  }

  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );

  function find(method: string, path: string): PlacedOperation | undefined {
    const pathname = path.split(/[?#]/)[0]!;
    return all
      .filter((operation) => operation.method === method.toLowerCase() && matches(operation.path, pathname))
      .sort((left, right) => left.path.split('{').length - right.path.split('{').length)[0];
  }

  function check(method: string, path: string, answer: Answer): void {
    const found = find(method, path);
    if (!found) throw new Error(`the document has no ${method} ${path}`);
    const what = `${method} ${found.path} ${answer.status}`;
    expect(faultsOfAnswer(found.operation, answer), what).to.deep.equal([]);
  }

  return {
    document,
    operations: all.filter(({ operation }) => operation.security.length > 0),
    unservedOperations: all.filter(({ operation }) => operation.tags.includes('Not served')),
    serviceOperations: all.filter(({ operation }) => operation.security.length === 0),
    ...{ find, resolve, headersOf, faultOf, faultsOfAnswer, check },
  };
}

export async function readContract(vault: TestVault): Promise<Contract> {
  const { body } = await vault.request('GET', '/openapi.json');
  const contract = createContract(body as OpenApiDocument);
  return {
    ...contract,
    async request(method, path, options) {
      const answer = await vault.request(method, path, options);
      contract.check(method, path, answer);
      return answer;
    },
  };
}
