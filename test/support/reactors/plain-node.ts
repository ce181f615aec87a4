import { createRequire } from 'node:module';
import { runInThisContext } from 'node:vm';
import type { Json } from '../../../src/domain/json.ts';
import { ERROR_CLASSES, errorClassOf } from '../../../src/reactors/errors.ts';
import type { ErrorClass } from '../../../src/reactors/errors.ts';

/** How a reactor ended, in words that both runtimes share. */
export type Ended =
  | { raw?: Json; tokenize?: Json }
  | { status: number; errors?: Json }
  | { custom: { status: number; headers: Json; body: Json } };

type Errors = Record<string, new (argument?: unknown) => Error>;
type Reactor = (request: { args: Json; configuration: Json; svc: unknown }) => Promise<unknown>;

class Classed extends Error {
  readonly errors: Record<string, string[]>;
  constructor(argument?: unknown) {
    super(typeof argument === 'string' ? argument : 'an error');
    this.errors = errorsOf(argument);
  }
}

class CustomHttpResponseError extends Error {
  readonly response: unknown;
  constructor(response: unknown) {
    super('a response');
    this.response = response;
  }
}

function errorsOf(argument: unknown): Record<string, string[]> {
  const text = (value: unknown): string => (value instanceof Error ? value.message : String(value));
  if (argument === undefined) return {};
  if (typeof argument === 'string' || Array.isArray(argument)) return { error: [argument].flat().map(text) };
  if (argument instanceof Error) return { error: [argument.message] };
  return Object.fromEntries(
    Object.entries(argument as object).map(([name, value]) => [name, [value].flat().map(text)]),
  );
}

const classes: Errors = Object.fromEntries(
  Object.keys(ERROR_CLASSES).map((name) => [name, { [name]: class extends Classed {} }[name]!]),
);
const errorsModule: Errors = { ...classes, CustomHttpResponseError };

/** A client of the vault's API as a reactor of Node would have it: plain requests. */
function createClient(url: string) {
  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': contentType } }),
    });
    const text = await response.text();
    if (response.ok) return text === '' ? null : JSON.parse(text);
    const problem = JSON.parse(text) as { title: string };
    const name = errorClassOf(response.status);
    throw Object.assign(new classes[name]!(problem.title), { name, status: response.status });
  }
  const queryOf = (query: Record<string, unknown>): string =>
    new URLSearchParams(
      Object.entries(query).flatMap(([name, values]) =>
        [values].flat().map((value) => [name, String(value)] as [string, string]),
      ),
    ).toString();
  return {
    tokens: {
      create: (body: unknown) => call('POST', '/tokens', body),
      retrieve: (id: string) => call('GET', `/tokens/${id}`),
      update: (id: string, body: unknown) => call('PATCH', `/tokens/${id}`, body),
      delete: (id: string) => call('DELETE', `/tokens/${id}`),
      list: (query: Record<string, unknown>) => call('GET', `/tokens?${queryOf(query)}`),
      search: (body: unknown) => call('POST', '/tokens/search', body),
    },
    tokenize: (body: unknown) => call('POST', '/tokenize', body),
    detokenize: (body: unknown) => call('POST', '/detokenize', body),
  };
}

/** Runs a reactor's source in this very Node, with the real packages. */
export async function runInPlainNode(
  file: string,
  source: string,
  request: { args: Json; configuration: Json; svcUrl?: string | undefined },
): Promise<Ended> {
  const real = createRequire(file);
  const require = (name: string): unknown => (name === '@tokenkeep/errors' ? errorsModule : real(name));
  const module: { exports: unknown } = { exports: {} };
  const wrapped = runInThisContext(`(function (module, exports, require) {${source}\n})`, { filename: file });
  (wrapped as (...values: unknown[]) => void)(module, module.exports, require);
  const globals = globalThis as unknown as Errors;
  Object.assign(globals, errorsModule);
  try {
    const { args, configuration, svcUrl } = request;
    const svc = svcUrl === undefined ? null : createClient(svcUrl);
    const result = await (module.exports as Reactor)({ ...structuredClone({ args, configuration }), svc });
    return JSON.parse(JSON.stringify(result)) as Ended;
  } catch (error) {
    if (error instanceof CustomHttpResponseError) return { custom: error.response as never };
    const name = Object.keys(classes).find((one) => error instanceof classes[one]!) as ErrorClass | undefined;
    if (name === undefined) return { status: 500 };
    const { errors } = error as Classed;
    return { status: ERROR_CLASSES[name].status, ...(Object.keys(errors).length > 0 ? { errors } : {}) };
  } finally {
    for (const name of Object.keys(errorsModule)) Reflect.deleteProperty(globals, name);
  }
}
