import type { KnownOperation } from '../../route.ts';

/** What clients of this interface know at the paths that are not served. */

export const FORMULAS: readonly KnownOperation[] = [
  { method: 'get', path: '/reactor-formulas', operationId: 'listReactorFormulas', summary: 'List reactor formulas' },
  { method: 'post', path: '/reactor-formulas', operationId: 'createReactorFormula', summary: 'Create a formula' },
  { method: 'get', path: '/reactor-formulas/{id}', operationId: 'getReactorFormula', summary: 'Read a formula' },
  { method: 'put', path: '/reactor-formulas/{id}', operationId: 'updateReactorFormula', summary: 'Replace a formula' },
  {
    method: 'delete',
    path: '/reactor-formulas/{id}',
    operationId: 'deleteReactorFormula',
    summary: 'Delete a formula',
  },
];

export const PROXIES: readonly KnownOperation[] = [
  { method: 'get', path: '/proxies', operationId: 'listProxies', summary: 'List proxies' },
  { method: 'post', path: '/proxies', operationId: 'createProxy', summary: 'Create a proxy' },
  { method: 'get', path: '/proxies/{id}', operationId: 'getProxy', summary: 'Read a proxy' },
  { method: 'put', path: '/proxies/{id}', operationId: 'updateProxy', summary: 'Replace a proxy' },
  { method: 'patch', path: '/proxies/{id}', operationId: 'patchProxy', summary: 'Change a proxy' },
  { method: 'delete', path: '/proxies/{id}', operationId: 'deleteProxy', summary: 'Delete a proxy' },
];

const throughProxy = (['get', 'post', 'put', 'patch', 'delete'] as const).map((method) => ({
  method,
  path: '/proxy',
  operationId: `${method}ThroughProxy`,
  summary: `Send a ${method.toUpperCase()} request through a proxy`,
}));
export const PROXY: readonly KnownOperation[] = throughProxy;

export const ACCOUNT_UPDATER: readonly KnownOperation[] = [
  {
    method: 'get',
    path: '/account-updater/jobs',
    operationId: 'listAccountUpdaterJobs',
    summary: 'List jobs of the account updater',
  },
  {
    method: 'post',
    path: '/account-updater/jobs',
    operationId: 'createAccountUpdaterJob',
    summary: 'Create a job of the account updater',
  },
  {
    method: 'get',
    path: '/account-updater/jobs/{id}',
    operationId: 'getAccountUpdaterJob',
    summary: 'Read a job of the account updater',
  },
];
