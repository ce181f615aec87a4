import { DomainError, type ErrorKind } from '../../../domain/errors.ts';
import type { Deprecation } from '../../deprecation.ts';
import { type Route, route } from '../../route.ts';

interface UnservedPath {
  path: string;
  operationId: string;
  tag: string;
  kind: Extract<ErrorKind, 'gone' | 'not-implemented'>;
  detail: string;
  deprecated?: Deprecation;
}

const FORMULAS: UnservedPath = {
  path: '/reactor-formulas',
  operationId: 'reactorFormulas',
  tag: 'Reactors',
  kind: 'gone',
  detail: 'Reactor formulas are gone: put the code of the formula into the `code` of a reactor (/reactors).',
  deprecated: { since: '2022-10-16', sunset: '2024-02-14', successor: '/reactors' },
};

function notImplemented(path: string, operationId: string, tag: string, what: string): UnservedPath {
  return { path, operationId, tag, kind: 'not-implemented', detail: `${what} not available in this release.` };
}

const UNSERVED: readonly UnservedPath[] = [
  FORMULAS,
  notImplemented('/proxies', 'proxies', 'Proxies', 'Proxies are'),
  notImplemented('/proxy', 'proxy', 'Proxies', 'The proxy is'),
  notImplemented('/account-updater', 'accountUpdater', 'Account updater', 'The account updater is'),
];

/**
 * Paths that clients of this interface know and that are gone, or not there yet: any method, on the path and below it,
 * is answered with what to do instead. It takes a good key, as everything does: a caller with a bad one is to learn of
 * that first, and counts against no limit but that of its address.
 */
export function unservedRoutes(): Route[] {
  return UNSERVED.map(({ kind, detail, ...described }) =>
    route({
      ...described,
      method: 'all',
      summary: detail,
      permission: null,
      responses: {},
      async handle() {
        throw new DomainError(kind, detail);
      },
    }),
  );
}
