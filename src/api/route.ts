import type { Caller } from '../domain/caller.ts';
import type { Json } from '../domain/json.ts';
import type { Permission } from '../domain/permissions.ts';

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

export interface RequestBody {
  readonly contentType: ContentType;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface ResponseDefinition {
  readonly description: string;
  /** Absent: the answer has no body. Members that the schema does not name are left out of the answer. */
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
}

export interface ApiReply {
  readonly status: number;
  readonly body?: Json | object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** The answer is a reactor's own: no schema of ours strips it. */
  readonly verbatim?: boolean;
}

/**
 * One operation. The same declaration mounts it, validates its requests, strips its answers and documents it, so that
 * none of the four can differ from the others.
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/tokens/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What the caller must hold on some container at least; null: any valid key will do. */
  readonly permission: Permission | null;
  readonly parameters?: readonly Parameter[];
  readonly body?: RequestBody;
  readonly responses: Readonly<Record<number, ResponseDefinition>>;
  handle(request: ApiRequest): Promise<ApiReply>;
}

/** Declares a route whose handler sees the body and query as its schemas describe them. */
export function route<Body = unknown, Query = Record<string, unknown>>(
  definition: Omit<Route, 'handle'> & { handle(request: ApiRequest<Body, Query>): Promise<ApiReply> },
): Route {
  // The schemas of the definition have checked body and query before the handler sees them.
  return definition as unknown as Route;
}
