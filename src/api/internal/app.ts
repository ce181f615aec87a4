import { createHash, timingSafeEqual } from 'node:crypto';
import { PassThrough } from 'node:stream';
import Router from '@koa/router';
import Koa from 'koa';
import { validate as isUuid } from 'uuid';
import type {
  ApplicationDeclaration,
  DeclarationChange,
  ReactorDeclaration,
  ReactorInstance,
  TenantDeclaration,
} from '../../domain/declarations.ts';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ChangeFeed } from '../../services/change-feed.ts';
import {
  type DeclaredApplicationParts,
  putApplication,
  removeApplication,
} from '../../services/declared/applications.ts';
import {
  type DeclaredReactorParts,
  listWorkloads,
  putReactor,
  removeReactor,
} from '../../services/declared/reactors.ts';
import { type DeclaredTenantParts, putTenant, removeTenant } from '../../services/declared/tenants.ts';
import { withinTenant } from '../../services/tenant-scope.ts';
import { listDemand, putChecker, putInstances } from '../../services/reactors/instances.ts';
import { prefixedHeaders } from '../middleware/headers.ts';
import { readJsonBody } from '../middleware/json-body.ts';
import { problems } from '../middleware/problems.ts';
import { refuseUnmatched } from '../middleware/unmatched.ts';
import type { Schema } from '../route.ts';
import { compileBodyCheck } from '../validation/validator.ts';
import * as schema from './schema.ts';

export interface InternalAppOptions {
  /** The bearer token that the control plane presents. */
  readonly token: string;
  readonly declared: DeclaredTenantParts & DeclaredApplicationParts & DeclaredReactorParts;
  readonly changes: ChangeFeed;
  readonly logger: Logger;
}

type Params = Readonly<Record<string, string>>;
type Handler = (params: Params, body: unknown) => Promise<object | undefined>;

const PING_MS = 5_000;
/** Bytes of lines that a follower has not taken yet; one that is further behind reads everything anew instead. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

function sameToken(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function requireToken(token: string): Koa.Middleware {
  return async (ctx, next) => {
    if (!sameToken(ctx.get('authorization'), `Bearer ${token}`)) {
      throw new DomainError('unauthenticated', 'The token of the control plane is required.');
    }
    await next();
  };
}

/** Lines of JSON, from a full resync on, until the caller goes away. */
function streamChanges(ctx: Koa.Context, changes: ChangeFeed): void {
  const stream = new PassThrough();
  const write = (change: DeclarationChange) => {
    if (stream.writableLength + stream.readableLength > MAX_BACKLOG_BYTES) ctx.res.destroy();
    else stream.write(`${JSON.stringify(change)}\n`);
  };
  const unsubscribe = changes.subscribe(write);
  const ping = setInterval(() => write({ kind: 'ping' }), PING_MS);
  stream.on('close', () => {
    unsubscribe();
    clearInterval(ping);
  });
  write({ kind: 'resync' });
  ctx.type = 'application/x-ndjson';
  ctx.body = stream;
}

/**
 * The API of the control plane, on a port of its own. It takes declarations whole, under ids that follow from their
 * names, so that every request may be repeated.
 */
export function createInternalApp({ token, declared, changes, logger }: InternalAppOptions): Koa {
  const router = new Router({ prefix: '/internal' });

  function handle(method: 'put' | 'delete' | 'get', path: string, body: Schema | undefined, act: Handler): void {
    const check = body && compileBodyCheck(body);
    router[method](path, async (ctx) => {
      const { params } = ctx as unknown as { params: Params };
      if (!Object.values(params).every(isUuid)) throw new DomainError('not-found', 'There is nothing with this id.');
      const violations = new ViolationCollector();
      const json = check && (await readJsonBody(ctx, 'application/json', violations));
      violations.collect(() => check?.(json));
      violations.throwIfAny();
      const { tenantId } = params;
      const answer = await (tenantId === undefined
        ? act(params, json)
        : withinTenant(tenantId, () => act(params, json)));
      ctx.status = answer === undefined ? 204 : 200;
      if (answer !== undefined) ctx.body = answer;
    });
  }

  handle('put', '/tenants/:tenantId', schema.tenantDeclaration, async ({ tenantId }, body) => ({
    changed: await putTenant(declared, tenantId!, body as TenantDeclaration),
  }));
  handle('delete', '/tenants/:tenantId', undefined, async ({ tenantId }) => {
    await removeTenant(declared, tenantId!);
    return undefined;
  });
  handle('put', '/tenants/:tenantId/applications/:id', schema.applicationDeclaration, async (params, body) => ({
    changed: await putApplication(declared, params['tenantId']!, params['id']!, body as ApplicationDeclaration),
  }));
  handle('delete', '/tenants/:tenantId/applications/:id', undefined, async (params) => {
    await removeApplication(declared, params['tenantId']!, params['id']!);
    return undefined;
  });
  handle('put', '/tenants/:tenantId/reactors/:id', schema.reactorDeclaration, async (params, body) => ({
    changed: await putReactor(declared, params['tenantId']!, params['id']!, body as ReactorDeclaration),
  }));
  handle('delete', '/tenants/:tenantId/reactors/:id', undefined, async (params) => {
    await removeReactor(declared, params['tenantId']!, params['id']!);
    return undefined;
  });
  handle('put', '/tenants/:tenantId/reactors/:id/instances', schema.instances, async (params, body) => {
    const { instances } = body as { instances: ReactorInstance[] };
    putInstances(declared, params['tenantId']!, params['id']!, instances);
    return undefined;
  });
  handle('put', '/checker', schema.instance, async (_params, body) => {
    putChecker(declared, body as ReactorInstance);
    return undefined;
  });
  handle('get', '/reactors', undefined, async () => ({ data: await listWorkloads(declared) }));
  handle('get', '/demand', undefined, async () => ({ data: listDemand(declared) }));
  router.get('/changes', (ctx) => streamChanges(ctx as unknown as Koa.Context, changes));

  const app = new Koa();
  app.silent = true;
  app.use(prefixedHeaders(['SVC']));
  app.use(problems(logger));
  app.use(requireToken(token));
  app.use(router.routes());
  app.use(refuseUnmatched);
  return app;
}
