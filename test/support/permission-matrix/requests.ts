import { APPLICATION_TEMPLATES } from '../../../src/domain/application-templates.ts';
import type { Json } from '../../../src/domain/json.ts';
import type { Subjects } from './tenancy.ts';

/** What tokens of the matrix hold, and what their mask shows of it. */
export const PLAINTEXT = 'nobody-else-sees-this';
export const MASKED = 'XXXXXX-XXXX-XXXX-this';
export const SECRET_TOKEN = { type: 'token', data: PLAINTEXT, mask: '{{ data | reveal_last: 4 }}' };

export const ECHO = 'module.exports = async function (req) { return { raw: req.args }; };';

export interface RequestOfEndpoint {
  path: string;
  body?: Json | object;
}

const application = { name: 'Made by the matrix', type: 'private', permissions: ['token:create'] };
const reactor = { name: 'Made by the matrix', code: ECHO, configuration: {} };

/** One request for each endpoint that nothing but a missing permission stands against. */
export const REQUESTS: Readonly<Record<string, (id: Subjects) => RequestOfEndpoint>> = {
  'POST /tokens': () => ({ path: '/tokens', body: SECRET_TOKEN }),
  'GET /tokens': (id) => ({ path: `/tokens?id=${id.token}` }),
  'GET /v2/tokens': () => ({ path: '/v2/tokens?size=100' }),
  'GET /tokens/{id}': (id) => ({ path: `/tokens/${id.token}` }),
  'PATCH /tokens/{id}': (id) => ({ path: `/tokens/${id.token}`, body: { metadata: { seen: 'yes' } } }),
  'DELETE /tokens/{id}': (id) => ({ path: `/tokens/${id.token}` }),
  'POST /tokenize': () => ({ path: '/tokenize', body: { token: SECRET_TOKEN, text: 'a text' } }),
  'POST /detokenize': (id) => ({ path: '/detokenize', body: { value: `{{ ${id.token} }}` } }),
  'POST /tokens/search': (id) => ({ path: '/tokens/search', body: { query: `id:${id.token}` } }),
  'POST /v2/tokens/search': (id) => ({ path: '/v2/tokens/search', body: { query: `id:${id.token}` } }),

  'POST /applications': () => ({ path: '/applications', body: application }),
  'GET /applications': (id) => ({ path: `/applications?id=${id.application}` }),
  'GET /applications/key': () => ({ path: '/applications/key' }),
  'GET /applications/{id}': (id) => ({ path: `/applications/${id.application}` }),
  'PUT /applications/{id}': (id) => ({
    path: `/applications/${id.application}`,
    body: { name: 'Changed by the matrix', permissions: ['token:read'] },
  }),
  'DELETE /applications/{id}': (id) => ({ path: `/applications/${id.application}` }),
  'POST /applications/{id}/keys': (id) => ({ path: `/applications/${id.application}/keys` }),
  'GET /applications/{id}/keys': (id) => ({ path: `/applications/${id.application}/keys` }),
  'GET /applications/{id}/keys/{keyId}': (id) => ({
    path: `/applications/${id.application}/keys/${id.applicationKey}`,
  }),
  'DELETE /applications/{id}/keys/{keyId}': (id) => ({
    path: `/applications/${id.application}/keys/${id.applicationKey}`,
  }),
  'POST /applications/{id}/regenerate': (id) => ({ path: `/applications/${id.application}/regenerate` }),
  'GET /application-templates': () => ({ path: '/application-templates' }),
  'GET /application-templates/{id}': () => ({ path: `/application-templates/${APPLICATION_TEMPLATES[0]!.id}` }),
  'GET /permissions': () => ({ path: '/permissions' }),

  'POST /reactors': (id) => ({ path: '/reactors', body: { ...reactor, application: { id: id.application } } }),
  'GET /reactors': (id) => ({ path: `/reactors?id=${id.reactor}` }),
  'GET /reactors/{id}': (id) => ({ path: `/reactors/${id.reactor}` }),
  'PUT /reactors/{id}': (id) => ({
    path: `/reactors/${id.reactor}`,
    body: { ...reactor, application: { id: id.application } },
  }),
  'PATCH /reactors/{id}': (id) => ({
    path: `/reactors/${id.reactor}`,
    body: { name: 'Changed by the matrix', application: { id: id.application } },
  }),
  'DELETE /reactors/{id}': (id) => ({ path: `/reactors/${id.reactor}` }),
  'POST /reactors/{id}/react': (id) => ({
    path: `/reactors/${id.running}/react`,
    body: { args: { value: `{{ ${id.token} }}` } },
  }),

  'GET /reactors/{id}/results/{requestId}': (id) => ({ path: `/reactors/${id.reactor}/results/${id.invocation}` }),

  'POST /sessions': () => ({ path: '/sessions' }),
  'POST /sessions/authorize': (id) => ({
    path: '/sessions/authorize',
    body: { nonce: id.nonce, permissions: ['token:create'] },
  }),

  'GET /logs': (id) => ({ path: `/logs?entity_type=token&entity_id=${id.token}` }),
  'GET /logs/entity-types': () => ({ path: '/logs/entity-types' }),

  'GET /tenants/self': () => ({ path: '/tenants/self' }),
  'PUT /tenants/self': () => ({ path: '/tenants/self', body: { name: 'Renamed by the matrix' } }),
  'GET /tenants/self/reports/usage': () => ({ path: '/tenants/self/reports/usage' }),

  'GET /tenants/self/webhook-secret': () => ({ path: '/tenants/self/webhook-secret' }),
  'POST /tenants/self/webhook-secret/rotate': () => ({ path: '/tenants/self/webhook-secret/rotate' }),

  'any /reactor-formulas': () => ({ path: '/reactor-formulas' }),
  'any /proxies': () => ({ path: '/proxies' }),
  'any /proxy': () => ({ path: '/proxy' }),
  'any /account-updater': () => ({ path: '/account-updater/jobs' }),
};
