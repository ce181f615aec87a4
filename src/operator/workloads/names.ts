import { createHash } from 'node:crypto';

/** A reactor of one tenant. The id alone is no name: two tenants may have a reactor under the same one. */
export interface ReactorName {
  readonly tenantId: string;
  readonly reactorId: string;
}

export const REACTOR_APP = 'tokenkeep-reactor';
export const CHECKER_APP = 'tokenkeep-reactor-checker';
export const CHECKER_NAME = 'reactor-checker';
/** Holds the keys of the authorities; no pod mounts it. */
export const AUTHORITY_SECRET = 'tokenkeep-reactor-ca';
/** What the API presents to instances. */
export const CLIENT_SECRET = 'tokenkeep-reactor-client';

export const APP_LABEL = 'app.kubernetes.io/name';
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'tokenkeep';
export const TENANT_LABEL = 'tokenkeep.dev/tenant-id';
export const REACTOR_LABEL = 'tokenkeep.dev/reactor-id';
export const REVISION_LABEL = 'tokenkeep.dev/revision';
/** Digest of what we asked for: an object that carries it needs no further request. */
export const RENDERED_ANNOTATION = 'tokenkeep.dev/rendered';

/** Everything that is made for reactors and for checking code, and nothing else. */
export const OURS_SELECTOR = `${APP_LABEL} in (${REACTOR_APP},${CHECKER_APP}),${MANAGED_BY_LABEL}=${MANAGED_BY}`;

/** The name that all objects of a reactor have, or begin with. */
export function workloadName({ tenantId, reactorId }: ReactorName): string {
  const digest = createHash('sha256').update(`${tenantId}/${reactorId}`).digest('hex');
  return `reactor-${digest.slice(0, 16)}`;
}

/** The Secret with what one revision runs. */
export const workloadSecretName = (name: string, revision: string): string => `${name}-${revision}`;

export const tlsSecretName = (name: string): string => `${name}-tls`;

/** Which pods are instances of this reactor: never those of another tenant. Immutable in a Deployment. */
export function selectorOf({ tenantId, reactorId }: ReactorName): Record<string, string> {
  return { [APP_LABEL]: REACTOR_APP, [TENANT_LABEL]: tenantId, [REACTOR_LABEL]: reactorId };
}

export function labelsOf(reactor: ReactorName): Record<string, string> {
  return { ...selectorOf(reactor), [MANAGED_BY_LABEL]: MANAGED_BY };
}

export const CHECKER_SELECTOR: Readonly<Record<string, string>> = { [APP_LABEL]: CHECKER_APP };
export const CHECKER_LABELS: Readonly<Record<string, string>> = { ...CHECKER_SELECTOR, [MANAGED_BY_LABEL]: MANAGED_BY };

/** Of what belongs to no one reactor: certificates of the API and of the authorities. */
export const SHARED_LABELS: Readonly<Record<string, string>> = {
  [APP_LABEL]: REACTOR_APP,
  [MANAGED_BY_LABEL]: MANAGED_BY,
};

/** Undefined where the labels are of no reactor. */
export function reactorOf(labels: Readonly<Record<string, string>> | undefined): ReactorName | undefined {
  const tenantId = labels?.[TENANT_LABEL];
  const reactorId = labels?.[REACTOR_LABEL];
  return tenantId === undefined || reactorId === undefined ? undefined : { tenantId, reactorId };
}
