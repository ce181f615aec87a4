import { DomainError, type ErrorKind } from '../../../domain/errors.ts';
import type { Deprecation } from '../../deprecation.ts';
import { type KnownOperation, type Route, route } from '../../route.ts';
import { ACCOUNT_UPDATER, FORMULAS, PROXIES, PROXY } from './operations.ts';

interface UnservedPath {
  readonly path: string;
  readonly operationId: string;
  readonly known: readonly KnownOperation[];
  readonly status: 410 | 501;
  readonly detail: string;
  readonly description: string;
  readonly deprecated?: Deprecation;
}

const KINDS = { 410: 'gone', 501: 'not-implemented' } as const satisfies Record<UnservedPath['status'], ErrorKind>;

const FORMULAS_GONE =
  'Reactor formulas are gone: put the code of the formula into the `code` of a reactor (/reactors).';

function notImplemented(
  path: string,
  operationId: string,
  what: string,
  known: readonly KnownOperation[],
): UnservedPath {
  const detail = `${what} not available in this release.`;
  return { path, operationId, known, status: 501, detail, description: 'Not available in this release.' };
}

const UNSERVED: readonly UnservedPath[] = [
  notImplemented('/proxies', 'proxies', 'Proxies are', PROXIES),
  notImplemented('/proxy', 'proxy', 'The proxy is', PROXY),
  notImplemented('/account-updater', 'accountUpdater', 'The account updater is', ACCOUNT_UPDATER),
  {
    path: '/reactor-formulas',
    operationId: 'reactorFormulas',
    known: FORMULAS,
    status: 410,
    detail: FORMULAS_GONE,
    description: FORMULAS_GONE,
    deprecated: { since: '2022-10-16', sunset: '2024-02-14', successor: '/reactors' },
  },
];

/**
 * Paths that clients of this interface know and that are gone, or not there yet: any method, on the path and below it,
 * is answered with what to do instead. It takes a good key, as everything does: a caller with a bad one is to learn of
 * that first, and counts against no limit but that of its address.
 */
export function unservedRoutes(): Route[] {
  return UNSERVED.map(({ status, detail, ...described }) =>
    route({
      ...described,
      method: 'all',
      tag: 'Not served',
      summary: detail,
      permission: null,
      responses: { [status]: { description: detail } },
      async handle() {
        throw new DomainError(KINDS[status], detail);
      },
    }),
  );
}
