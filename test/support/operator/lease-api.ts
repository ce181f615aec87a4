import type { LeaseElectorOptions } from '../../../src/operator/kubernetes/lease-elector.ts';
import type { Lease } from '../../../src/operator/kubernetes/lease.ts';
import { KubernetesError } from '../../../src/platform/kubernetes/errors.ts';

/** One Lease in memory, with the conditional writes of the Kubernetes API. */
export interface LeaseApi {
  client: LeaseElectorOptions['client'];
  lease: Lease | undefined;
  /** Of the requests from now on: answered, refused for want of an answer, or never answered. */
  mood: 'answers' | 'away' | 'silent';
  /** Requests so far. */
  requests: number;
  /** From now on requests take effect at once and are answered late: once the function that it returns is called. */
  delayAnswers(): () => void;
  /** As somebody with kubectl. */
  edit(spec: Partial<Lease['spec']>): void;
}

export function createLeaseApi(): LeaseApi {
  let version = 0;
  let delay = Promise.resolve();
  const failure = (method: string, status?: number) =>
    new KubernetesError({ method, path: '/leases', ...(status === undefined ? {} : { status }) });

  function store(lease: Lease): Lease {
    version += 1;
    api.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(version) } };
    return structuredClone(api.lease);
  }

  async function answer<T>(method: string, act: () => Lease | undefined): Promise<T> {
    api.requests += 1;
    if (api.mood === 'silent') return new Promise<T>(() => undefined);
    if (api.mood === 'away') throw failure(method);
    const acted = act() as T;
    await delay;
    return acted;
  }

  const api: LeaseApi = {
    lease: undefined,
    mood: 'answers',
    requests: 0,
    delayAnswers() {
      const { promise, resolve } = Promise.withResolvers<void>();
      delay = promise;
      return resolve;
    },
    edit(spec) {
      if (api.lease !== undefined) store({ ...api.lease, spec: { ...api.lease.spec, ...spec } });
    },
    client: {
      read: <T>() => answer<T>('GET', () => structuredClone(api.lease)),
      create: <T>(_at: unknown, lease: object) =>
        answer<T>('POST', () => {
          if (api.lease !== undefined) throw failure('POST', 409);
          return store(lease as Lease);
        }),
      replace: <T>(_at: unknown, lease: object) =>
        answer<T>('PUT', () => {
          if (api.lease === undefined) throw failure('PUT', 404);
          if (api.lease.metadata.resourceVersion !== (lease as Lease).metadata.resourceVersion)
            throw failure('PUT', 409);
          return store(lease as Lease);
        }),
    },
  };
  return api;
}
