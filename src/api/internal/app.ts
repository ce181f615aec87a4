import Router from '@koa/router';
import Koa from 'koa';
import { validate as isUuid } from 'uuid';
import type {
  ApplicationDeclaration,
  ReactorDeclaration,
  ReactorInstance,
  TenantDeclaration,
} from '../../domain/declarations.ts';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import { REACTOR_LIMITS } from '../../domain/reactors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ChangeFeed } from '../../services/change-feed.ts';
import {
  type DeclaredApplicationParts,
  putApplication,
  removeApplication,
  revokeDeclaredKeys,
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
import { type BodyTerms, readJsonBody } from '../middleware/json-body.ts';
import { problems } from '../middleware/problems.ts';
import { refuseUnmatched } from '../middleware/unmatched.ts';
import type { Schema } from '../route.ts';
import { compileBodyCheck } from '../validation/validator.ts';
import { BEARER_CHALLENGE, bearerTokenOf, type InternalAuthentication, requireControlPlane } from './authentication.ts';
import { streamChanges } from './change-stream.ts';
import * as schema from './schema.ts';

export interface InternalAppOptions {
  readonly authentication: InternalAuthentication;
  readonly declared: DeclaredTenantParts & DeclaredApplicationParts & DeclaredReactorParts;
  readonly changes: ChangeFeed;
  readonly logger: Logger;
}

type Params = Readonly<Record<string, string>>;
type Handler = (params: Params, body: unknown) => Promise<object | undefined>;

/**
 * The API of the control plane, on a port of its own. It takes declarations whole, under ids that follow from their
 * names, so that every request may be repeated.
 */
export function createInternalApp({ authentication, declared, changes, logger }: InternalAppOptions): Koa {
  const router = new Router({ prefix: '/internal' });

  function handle(
    method: 'put' | 'delete' | 'get',
    path: string,
    body: Schema | undefined,
    act: Handler,
    terms?: BodyTerms,
  ): void {
    const check = body && compileBodyCheck(body);
    router[method](path, async (ctx) => {
      const { params } = ctx as unknown as { params: Params };
      if (!Object.values(params).every(isUuid)) throw new DomainError('not-found', 'There is nothing with this id.');
      const violations = new ViolationCollector();
      const json = check && (await readJsonBody(ctx, 'application/json', violations, terms));
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
  handle('delete', '/tenants/:tenantId/applications/:id/keys', undefined, async (params) => {
    await revokeDeclaredKeys(declared, params['tenantId']!, params['id']!);
    return undefined;
  });
  handle(
    'put',
    '/tenants/:tenantId/reactors/:id',
    schema.reactorDeclaration,
    async (params, body) => ({
      changed: await putReactor(declared, params['tenantId']!, params['id']!, body as ReactorDeclaration),
    }),
    { limitBytes: REACTOR_LIMITS.documentBytes },
  );
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
  handle('get', '/reactors', undefined, () => listWorkloads(declared));
  handle('get', '/demand', undefined, async () => ({ data: listDemand(declared) }));
  router.get('/changes', (context) => {
    const ctx = context as unknown as Koa.Context;
    const token = bearerTokenOf(ctx);
    // Who cannot be recognized any more is not let in any more either.
    const verdict = () => authentication.authenticate(token).catch(() => 'refused');
    streamChanges(ctx, changes, async () => (await verdict()) === 'accepted');
  });

  const app = new Koa();
  app.silent = true;
  app.use(prefixedHeaders(['SVC']));
  app.use(problems(logger, BEARER_CHALLENGE));
  app.use(requireControlPlane(authentication));
  app.use(router.routes());
  app.use(refuseUnmatched);
  return app;
}
