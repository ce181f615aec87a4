import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { isIdempotent } from '../../../src/api/middleware/idempotency-key.ts';
import type { Route } from '../../../src/api/route.ts';
import { APPLICATION_TYPES, type ApplicationType } from '../../../src/domain/applications.ts';
import { mayHold } from '../../../src/domain/permissions.ts';
import { declaredRoutes } from '../../support/declared-routes.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type RequestOptions, startTestVault, type TestVault } from '../../support/vault.ts';

const largeBody = (limitBytes = 1024 * 1024): string => JSON.stringify('x'.repeat(limitBytes));
const LARGE_HEADER = 'x'.repeat(17 * 1024);
const CARD = { type: 'card', data: { number: '4242424242424242' } };
/** Two operations of each type of application that succeed. */
const SUCCESSES: Readonly<Record<ApplicationType, readonly [method: string, path: string, body: object][]>> = {
  private: [
    ['POST', '/tokenize', { card: CARD }],
    ['POST', '/tokens', CARD],
  ],
  public: [
    ['POST', '/tokens', CARD],
    ['POST', '/sessions', {}],
  ],
  management: [
    ['PUT', '/tenants/self', { name: 'Swept' }],
    ['POST', '/applications', { name: 'Swept', type: 'private', permissions: ['token:read'] }],
  ],
};

function typeFor({ applicationType, permission }: Route): ApplicationType {
  if (applicationType !== undefined) return applicationType;
  return (['private', ...APPLICATION_TYPES] as const).find((type) => permission === null || mayHold(type, permission))!;
}

function hasQuery({ parameters = [] }: Route, name: string): boolean {
  return parameters.some((parameter) => parameter.in === 'query' && parameter.name === name);
}

describe('every operation refuses', () => {
  let vault: TestVault;
  let contract: Contract;
  let routes: Route[];
  let keys: Record<ApplicationType, string>;

  async function keysOf(tenantId: string): Promise<Record<ApplicationType, string>> {
    const made = APPLICATION_TYPES.map(
      async (type) => [type, (await vault.application({ tenantId, type })).key] as const,
    );
    return Object.fromEntries(await Promise.all(made)) as Record<ApplicationType, string>;
  }

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
    routes = (await declaredRoutes()).filter(({ method }) => method !== 'all');
    keys = await keysOf(await vault.tenant());
  });
  after(() => vault.stop());

  /** Sends the operation's own example, but for what is given. */
  async function statusOf(route: Route, { query = '', ...options }: RequestOptions & { query?: string } = {}) {
    const { method, path, body } = route;
    const target = path.replaceAll(/\{\w+\}/g, () => randomUUID()) + query;
    const sent = body && options.rawBody === undefined ? { body: body.example as object } : {};
    const { status } = await contract.request(method.toUpperCase(), target, {
      key: keys[typeFor(route)],
      ...sent,
      ...options,
    });
    return { of: route.operationId, status };
  }

  async function expectAll(status: number, those: Route[], options: (route: Route) => Parameters<typeof statusOf>[1]) {
    expect(those).not.to.have.length(0);
    for (const route of those) {
      expect(await statusOf(route, options(route))).to.deep.equal({ of: route.operationId, status });
    }
  }

  it('a body that is not JSON', () =>
    expectAll(
      400,
      routes.filter(({ body }) => body),
      () => ({ rawBody: '{' }),
    ));

  it('a query parameter that is out of bounds', async () => {
    await expectAll(
      400,
      routes.filter((route) => hasQuery(route, 'size')),
      () => ({ query: '?size=0' }),
    );
    await expectAll(
      400,
      routes.filter((route) => hasQuery(route, 'application_type')),
      () => ({ query: '?application_type=none' }),
    );
  });

  it('an idempotency key that is too long', () =>
    expectAll(400, routes.filter(isIdempotent), () => ({ headers: { 'svc-idempotency-key': 'x'.repeat(256) } })));

  it('a key of an application that may not do it', () =>
    expectAll(
      403,
      routes.filter(({ permission, applicationType }) => permission !== null || applicationType !== undefined),
      (route) => ({ key: typeFor(route) === 'management' ? keys.private : keys.management }),
    ));

  it('an id that is nobody’s', () =>
    expectAll(
      404,
      routes.filter(({ path }) => path.includes('{')),
      () => ({}),
    ));

  it('an idempotency key that belongs to another operation', async () => {
    for (const route of routes.filter(isIdempotent)) {
      const type = typeFor(route);
      const [method, path, body] = SUCCESSES[type].find(([, other]) => other !== route.path)!;
      const headers = { 'svc-idempotency-key': randomUUID() };
      const first = await contract.request(method, path, { key: keys[type], body, headers });
      expect(first.status, path).to.be.within(200, 201);
      expect(await statusOf(route, { headers })).to.deep.equal({ of: route.operationId, status: 409 });
    }
  });

  it('a body of more than it may have', () =>
    expectAll(
      413,
      routes.filter(({ body }) => body),
      ({ body }) => ({ rawBody: largeBody(body?.limitBytes) }),
    ));

  it('a body of another media type', () =>
    expectAll(
      415,
      routes.filter(({ body }) => body),
      () => ({ headers: { 'content-type': 'text/plain' } }),
    ));

  it('more requests than the tenant’s limit', async () => {
    const rows = [{ name: 'one', counter: 'Key', requests: 1, windowSeconds: 3600, action: 'Throttle' }] as const;
    const limited = await keysOf(await vault.tenant({}, { plan: 'Custom', rows }));
    for (const key of Object.values(limited)) await vault.request('GET', '/permissions', { key });
    await expectAll(429, routes, (route) => ({ key: limited[typeFor(route)] }));
  });

  it('headers of more than 16 KiB', async () => {
    await expectAll(431, routes, () => ({ headers: { 'x-large': LARGE_HEADER } }));
    for (const { path } of contract.serviceOperations) {
      const { status } = await contract.request('GET', path, { headers: { 'x-large': LARGE_HEADER } });
      expect(status, path).to.equal(431);
    }
  });
});
