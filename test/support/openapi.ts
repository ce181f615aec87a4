import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import type { Answer, TestVault } from './vault.ts';

interface Content {
  schema: object;
  example?: unknown;
}

interface Response {
  description: string;
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, Content>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; description: string; schema: object }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Response>;
}

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: object };
  security: object[];
  tags: { name: string }[];
}

/** Holds answers against the document that the vault itself gives out. */
export interface Contract {
  readonly document: OpenApiDocument;
  readonly operations: readonly { method: string; path: string; operation: Operation }[];
  /** Why a value does not have the schema; undefined where it has. */
  faultOf(schema: object, value: unknown): string | undefined;
  /** Fails unless the document has this answer under the operation: its status, its media type and its body. */
  check(method: string, path: string, answer: Answer): void;
  /** Sends a request and checks its answer. */
  request: TestVault['request'];
}

function matches(template: string, path: string): boolean {
  const parts = path.split('/');
  const templateParts = template.split('/');
  return (
    parts.length === templateParts.length &&
    templateParts.every((part, index) => part.startsWith('{') || part === parts[index])
  );
}

export async function readContract(vault: TestVault): Promise<Contract> {
  const { body } = await vault.request('GET', '/openapi.json');
  const document = body as OpenApiDocument;
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  addFormats.default(ajv, ['uuid', 'date-time', 'uri']);
  const compiled = new Map<object, ValidateFunction>();

  function faultOf(schema: object, value: unknown): string | undefined {
    const target = '$ref' in schema ? document.components.schemas[String(schema.$ref).split('/').at(-1)!]! : schema;
    const validate = compiled.get(target) ?? ajv.compile(target);
    compiled.set(target, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  }

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );

  function check(method: string, path: string, answer: Answer): void {
    const [pathname = ''] = path.split('?');
    const found = operations
      .filter((operation) => operation.method === method.toLowerCase() && matches(operation.path, pathname))
      .sort((left, right) => left.path.split('{').length - right.path.split('{').length)[0];
    if (!found) throw new Error(`the document has no ${method} ${pathname}`);
    const response = found.operation.responses[answer.status];
    const what = `${method} ${found.path} ${answer.status}`;
    if (!response) throw new Error(`the document does not have ${what}`);
    const [mediaType, content] = Object.entries(response.content ?? {})[0] ?? [];
    if (!content) expect(answer.body, what).to.equal(undefined);
    else {
      expect(answer.headers.get('content-type'), what).to.equal(mediaType);
      expect(faultOf(content.schema, answer.body), what).to.equal(undefined);
    }
    for (const [header, { required = true }] of Object.entries(response.headers ?? {})) {
      if (required) expect(answer.headers.has(header), `${what}: ${header}`).to.equal(true);
    }
  }

  return {
    document,
    operations,
    faultOf,
    check,
    async request(method, path, options) {
      const answer = await vault.request(method, path, options);
      check(method, path, answer);
      return answer;
    },
  };
}
