import Router from '@koa/router';
import { holdsAnywhere } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, ViolationCollector } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { guardJson } from '../domain/json-guard.ts';
import type { Idempotency } from '../services/idempotency.ts';
import { withinTenant } from '../services/tenant-scope.ts';
import { type Answer, renderAnswer, sendAnswer } from './answer.ts';
import { deprecationHeaders } from './deprecation.ts';
import { departureOf } from './departure.ts';
import { readPrefixedHeader } from './middleware/headers.ts';
import { IDEMPOTENT_REPLAYED, readIdempotencyKey } from './middleware/idempotency-key.ts';
import { readJsonBody } from './middleware/json-body.ts';
import type { RateLimits } from './middleware/rate-limits.ts';
import type { Parameter, Route } from './route.ts';
import type { ApiContext } from './state.ts';
import { membersNamedBy } from './validation/named-members.ts';
import { type Check, compileAnswerFilter, compileBodyCheck, compileQueryCheck } from './validation/validator.ts';

/** Finds out whose key a request carries; throws 'unauthenticated' for every key that is not good, for any reason. */
export type Authenticate = (key: string | undefined) => Promise<Caller>;

export interface MountOptions {
  readonly headerPrefixes: readonly string[];
  readonly authenticate: Authenticate;
  readonly idempotency: Idempotency;
  readonly rateLimits: RateLimits;
}

function parameterSchema(parameters: readonly Parameter[], place: Parameter['in']): Record<string, unknown> {
  const placed = parameters.filter((parameter) => parameter.in === place && !parameter.name.includes('<'));
  return {
    type: 'object',
    properties: Object.fromEntries(placed.map(({ name, schema }) => [name, schema])),
    required: placed.filter((parameter) => parameter.required).map((parameter) => parameter.name),
  };
}

// A parameter sent once is a text and sent several times a list; of a single-valued one the first counts.
function readQuery(search: URLSearchParams, parameters: readonly Parameter[]): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const { name, in: place, schema } of parameters) {
    if (place !== 'query' || !search.has(name)) continue;
    query[name] = schema['type'] === 'array' ? search.getAll(name) : search.get(name);
  }
  return query;
}

// What has not the form of an id is the id of nothing; Postgres would refuse it as malformed.
function checkParams(params: Readonly<Record<string, string>>, check: Check): void {
  const violations = new ViolationCollector();
  guardJson(params, violations);
  violations.collect(() => check(params));
  if (!violations.isEmpty) throw new DomainError('not-found', 'There is nothing with this id.');
}

function permit(caller: Caller, route: Route): void {
  const { applicationType: type } = route;
  if (type !== undefined && (caller.applicationType !== type || caller.sessionId !== undefined)) {
    throw new DomainError('forbidden', `Only the key of a ${type} application can be used here.`);
  }
  if (route.permission !== null && !holdsAnywhere(caller, route.permission)) {
    throw new DomainError('forbidden', `The application does not have the permission ${route.permission}.`);
  }
}

/** The outcome of `work`, to be asked for later: a repeated request is answered as the first one, whatever its body. */
async function outcomeOf<Result>(work: Promise<Result>): Promise<() => Result> {
  try {
    const result = await work;
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Does the work of a request, or gives again what it gave under the same idempotency key. */
async function answerOnce(
  ctx: ApiContext,
  route: Route,
  caller: Caller,
  { idempotency, headerPrefixes }: MountOptions,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const key = readIdempotencyKey(ctx, route, headerPrefixes);
  if (key === undefined) return work();
  const { traceId, headerPrefix } = ctx.state;
  const { answer, replayed } = await idempotency.once(
    { caller, key, operation: `${ctx.method} ${ctx.path}`, traceId },
    work,
  );
  if (replayed) ctx.set(`${headerPrefix}-${IDEMPOTENT_REPLAYED}`, 'true');
  return answer;
}

// A path parameter as the router writes it; `all` also takes whatever lies below the path.
function patternOf({ method, path }: Route): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1') + (method === 'all' ? '{/*below}' : '');
}

function mountRoute(router: Router, route: Route, options: MountOptions): void {
  const parameters = route.parameters ?? [];
  const checkQuery = compileQueryCheck(parameterSchema(parameters, 'query'));
  const checkPath = compileBodyCheck(parameterSchema(parameters, 'path'));
  const checkBody = route.body && compileBodyCheck(route.body.schema, route.body.refine);
  const bodyTerms = route.body && { named: membersNamedBy(route.body.schema), limitBytes: route.body.limitBytes };
  const filters = new Map(
    Object.entries(route.responses).flatMap(([status, { schema }]) =>
      schema ? [[Number(status), compileAnswerFilter(schema)] as const] : [],
    ),
  );

  router[route.method](patternOf(route), async (context) => {
    const ctx = context as unknown as ApiContext;
    const { params } = context as unknown as { params: Record<string, string> };
    ctx.state.routePath = route.path;
    if (route.deprecated) ctx.set(deprecationHeaders(route.deprecated, params));
    const key = readPrefixedHeader(ctx, options.headerPrefixes, 'API-KEY')?.value;
    const caller = await options.authenticate(key);
    ctx.state.caller = caller;
    await options.rateLimits.byCaller(ctx, caller, key!);
    permit(caller, route);
    // What is not served has no ids.
    if (route.method !== 'all') checkParams(params, checkPath);
    // Not `ctx.URL`, which a malformed Host header leaves empty.
    const rawQuery = new URLSearchParams(ctx.querystring);
    const query = readQuery(rawQuery, parameters);
    const violations = new ViolationCollector();
    guardJson(query as JsonObject, violations);
    violations.collect(() => checkQuery(query));
    route.refineQuery?.(query, violations);
    const readBody = await outcomeOf(
      route.body ? readJsonBody(ctx, route.body.contentType, violations, bodyTerms) : Promise.resolve(undefined),
    );
    const act = async (): Promise<Answer> => {
      const body = readBody();
      violations.collect(() => checkBody?.(body));
      violations.throwIfAny();
      const { traceId } = ctx.state;
      const signal = departureOf(ctx.res);
      return renderAnswer(await route.handle({ caller, params, query, rawQuery, body, traceId, signal }), filters);
    };
    sendAnswer(ctx, await withinTenant(caller.tenantId, () => answerOnce(ctx, route, caller, options, act)));
  });
}

/**
 * Mounts every route as the same stack: authenticate, limit, permit, validate, act, present. Whether a permission
 * reaches one certain token is decided where the token is known, in the services.
 */
export function mountRoutes(routes: readonly Route[], options: MountOptions): Router {
  const router = new Router();
  for (const route of routes) mountRoute(router, route, options);
  return router;
}
