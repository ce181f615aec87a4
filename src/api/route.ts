import type { ApplicationType } from '../domain/applications.ts';
import type { Caller } from '../domain/caller.ts';
import type { ViolationCollector } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Permission } from '../domain/permissions.ts';
import type { Deprecation } from './deprecation.ts';
import type { PresentedPage } from './render-in-slices.ts';

/** A JSON Schema (2020-12), as the validator and the OpenAPI document both read it. */
export type Schema = Readonly<Record<string, unknown>>;

export type ContentType = 'application/json' | 'application/merge-patch+json';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly description: string;
  readonly schema: Schema;
  readonly required?: boolean;
}

/**
 * Records which rules of the service a body breaks, so that they are reported together with faults of its schema. Sees
 * the members in which the schema finds no fault, and runs only where it finds one: the service checks sound bodies.
 * `body` is all of it, of whatever shape.
 */
export type Refine = (members: JsonObject, violations: ViolationCollector, body: JsonObject) => void;

export interface RequestBody {
  readonly contentType: ContentType;
  readonly schema: Schema;
  /** Of the body, in bytes. Default: 1 MiB. */
  readonly limitBytes?: number;
  readonly example?: unknown;
  readonly refine?: Refine;
}

export interface ResponseDefinition {
  readonly description: string;
  /**
   * Of a success; absent: the answer has no body. Members that it does not name are left out of the answer. Failures
   * are problems, all of one schema.
   */
  readonly schema?: Schema;
  readonly headers?: Readonly<Record<string, { description: string; schema: Schema }>>;
}

/** A request that has passed authentication, its permission and its schemas. */
export interface ApiRequest<Body = unknown, Query = Record<string, unknown>> {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The query as sent, for parameters whose names are the caller's own (`metadata.<key>`). */
  readonly rawQuery: URLSearchParams;
  readonly body: Body;
  readonly traceId: string;
  /** Aborted once the caller has gone away. */
  readonly signal: AbortSignal;
}

export interface ApiReply {
  readonly status: number;
  readonly body?: Json | object;
  /** In the place of a body, where it may be of many megabytes. No idempotency key makes it be kept. */
  readonly page?: PresentedPage;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** The answer is a reactor's own: no schema of ours strips it. */
  readonly verbatim?: boolean;
  /** The answer shows what is to be shown this once: no idempotency key makes it be kept. */
  readonly unkept?: boolean;
}

/** An operation that clients know at a path that is not served. */
export interface KnownOperation {
  readonly method: Exclude<Route['method'], 'all'>;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
}

/**
 * One operation. The same declaration mounts it, validates its requests, strips its answers and documents it, so that
 * none of the four can differ from the others.
 */
export interface Route {
  /** `all`: every method, on the path and on whatever lies below it, for what is not served. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'all';
  /** As OpenAPI writes it: `/tokens/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What the caller must hold on some container at least; null: any valid key will do. */
  readonly permission: Permission | null;
  /** The type of application whose own keys it takes, sessions left out; absent: any. */
  readonly applicationType?: ApplicationType;
  /** Every answer of the operation says so, errors too. */
  readonly deprecated?: Deprecation;
  /**
   * A POST, PUT or PATCH that changes nothing, such as a search: it may be repeated as it is, so no idempotency key
   * makes its answers, which may hold plaintext, be kept.
   */
  readonly safe?: true;
  readonly parameters?: readonly Parameter[];
  /** Records what the schemas of the query's parameters do not say. Texts that they find no number in stay texts. */
  readonly refineQuery?: (query: Readonly<Record<string, unknown>>, violations: ViolationCollector) => void;
  readonly body?: RequestBody;
  /** By status; those that authentication, permission and schemas lead to need no mention. */
  readonly responses: Readonly<Record<number, ResponseDefinition>>;
  /** Where the answer may have any status: what it is then. */
  readonly otherResponses?: ResponseDefinition;
  /** Of `all`: what the document shows in its place, each with the same answers. */
  readonly known?: readonly KnownOperation[];
  handle(request: ApiRequest): Promise<ApiReply>;
}

/** Declares a route whose handler sees the body and query as its schemas describe them. */
export function route<Body = unknown, Query = Record<string, unknown>>(
  definition: Omit<Route, 'handle'> & { handle(request: ApiRequest<Body, Query>): Promise<ApiReply> },
): Route {
  // The schemas of the definition have checked body and query before the handler sees them.
  return definition as unknown as Route;
}
