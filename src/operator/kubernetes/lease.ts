import type { ResourcePath } from '../../platform/kubernetes/paths.ts';

/** A Lease of coordination.k8s.io/v1, as far as who leads is concerned. */
export interface Lease {
  apiVersion: string;
  kind: string;
  metadata: { namespace: string; name: string; resourceVersion?: string };
  spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** Empty once given up. */
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  /** How often the holder changed. */
  leaseTransitions?: number;
}

/** Of what a holder writes about itself. */
export interface Holding {
  identity: string;
  leaseMs: number;
  /** Wall clock. */
  nowMs: number;
}

export function leasePath(namespace: string, name?: string): ResourcePath {
  const leases = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespace };
  return name === undefined ? leases : { ...leases, name };
}

/** Undefined where nobody holds the lease. */
export function holderOf({ spec }: Lease): string | undefined {
  return spec?.holderIdentity === '' ? undefined : spec?.holderIdentity;
}

export function firstLease(namespace: string, name: string, holding: Holding): Lease {
  const spec = { ...renewal(holding), acquireTime: microTime(holding.nowMs), leaseTransitions: 0 };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec };
}

/** The lease as its holder goes on with it. It keeps its version, and so can be written only if nobody else did. */
export function renewed(lease: Lease, holding: Holding): Lease {
  return { ...lease, spec: { ...lease.spec, ...renewal(holding) } };
}

/** The lease as another process takes it over. */
export function takenOver(lease: Lease, holding: Holding): Lease {
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  const spec = { ...lease.spec, ...renewal(holding), acquireTime: microTime(holding.nowMs), leaseTransitions };
  return { ...lease, spec };
}

/** The lease as its holder leaves it to others: at once, and for those who do not look at the holder, after 1 s. */
export function givenUp(lease: Lease, nowMs: number): Lease {
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(nowMs) };
  return { ...lease, spec };
}

function renewal({ identity, leaseMs, nowMs }: Holding): LeaseSpec {
  return { holderIdentity: identity, leaseDurationSeconds: Math.ceil(leaseMs / 1000), renewTime: microTime(nowMs) };
}

/** The API's MicroTime: RFC 3339 with six digits of a second. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
