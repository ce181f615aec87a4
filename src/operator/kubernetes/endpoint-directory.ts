import { isIPv6 } from 'node:net';
import type { ReplicaDirectory } from '../api-replicas.ts';
import type { KubernetesObject } from './objects.ts';
import { createReflector } from './reflector.ts';
import type { WatchLoopOptions } from './watch-loop.ts';

/** As `discovery.k8s.io/v1` has it, as far as it is read. */
export interface EndpointSlice extends KubernetesObject {
  addressType?: string;
  endpoints?:
    | {
        addresses: string[];
        conditions?: { ready?: boolean | null; serving?: boolean | null };
        targetRef?: { uid?: string };
      }[]
    | null;
  ports?: { name?: string; port?: number }[] | null;
}

export interface EndpointDirectoryOptions extends Pick<WatchLoopOptions, 'client' | 'clock' | 'logger' | 'onRestart'> {
  /** The internal Service of the API. */
  service: { namespace: string; name: string };
  /** `http:` or `https:`, as the Service is reached. */
  protocol: string;
  onListenerError?: () => void;
}

/** Of a Service with several ports, the one of this name. */
const PORT_NAME = 'internal';

/** The replicas of the API, by the EndpointSlices of their internal Service. */
export function createEndpointDirectory(options: EndpointDirectoryOptions): ReplicaDirectory {
  const { service, protocol, ...watching } = options;
  const slices = new Map<string, EndpointSlice>();
  let isListed = false;
  let listener: (origins: readonly string[]) => void = () => undefined;
  const tell = () => {
    // A part of them would look as if the others were gone.
    if (isListed) listener(originsOf([...slices.values()], protocol));
  };
  const reflector = createReflector<EndpointSlice, EndpointSlice>({
    ...watching,
    at: { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespace: service.namespace },
    selection: { labelSelector: `kubernetes.io/service-name=${service.name}` },
    transform: (slice) => slice,
    listener: {
      applied(slice) {
        slices.set(slice.metadata.name, slice);
        tell();
      },
      removed({ name }) {
        slices.delete(name);
        tell();
      },
    },
  });
  return {
    start(to) {
      listener = to;
      reflector.start().then(
        () => {
          isListed = true;
          tell();
        },
        // Stopped before.
        () => undefined,
      );
    },
    async stop() {
      listener = () => undefined;
      await reflector.stop();
    },
  };
}

/**
 * Where pods are reached that serve, also while they end: what runs there is demand. Each once, though a cluster with
 * two address families lists it twice: its demand would count twice.
 */
export function originsOf(slices: readonly EndpointSlice[], protocol: string): string[] {
  const byPod = new Map<string, string>();
  const families = [...slices].sort((one, other) => (one.addressType ?? '').localeCompare(other.addressType ?? ''));
  for (const { endpoints, ports } of families) {
    const port = (ports?.find(({ name }) => name === PORT_NAME) ?? ports?.[0])?.port;
    if (port === undefined) continue;
    for (const { addresses, conditions, targetRef } of endpoints ?? []) {
      const [address] = addresses;
      const isServing = conditions?.serving ?? conditions?.ready ?? true;
      if (address === undefined || !isServing) continue;
      const pod = targetRef?.uid ?? address;
      const host = isIPv6(address) ? `[${address}]` : address;
      if (!byPod.has(pod)) byPod.set(pod, `${protocol}//${host}:${port}`);
    }
  }
  return [...byPod.values()].sort();
}
