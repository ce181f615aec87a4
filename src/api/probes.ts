/**
 * What Kubernetes and load balancers ask every few seconds. It is no caller's request: neither counted, nor traced, nor
 * limited by address.
 */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);
