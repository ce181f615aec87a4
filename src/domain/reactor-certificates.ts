/**
 * By which DNS names the API and the instances of reactors know each other where they meet on a network. The names
 * resolve to nothing: they stand in certificates that the operator issues, one name in each.
 */

/** Of the API: the only caller that an instance has, and the only one that `svc` calls. */
export const API_CLIENT_NAME = 'api.tokenkeep.internal';

/** Where the API finds what it shows to `svc`, beside what it shows as a caller. */
export const SVC_FILES = { certFile: 'svc.crt', keyFile: 'svc.key' } as const;

/** Of the instance that checks code. */
export const CHECKER_SERVER_NAME = 'checker.reactors.tokenkeep.internal';

/** Of the instances of one reactor, whatever their number and their revision. */
export function reactorServerName(tenantId: string, reactorId: string): string {
  return `${reactorId}.${tenantId}.reactors.tokenkeep.internal`;
}
