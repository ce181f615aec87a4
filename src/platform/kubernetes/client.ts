import type { KubeConfig } from '@kubernetes/client-node';
import { KubernetesError, noAnswer } from './errors.ts';
import { renderPath } from './paths.ts';
import type { ListQuery, ResourcePath, WatchQuery } from './paths.ts';
import { createRequests } from './requests.ts';
import type { RequestObservation } from './requests.ts';
import { watchEvents } from './watch-events.ts';
import type { WatchEvent } from './watch-events.ts';

export type { RequestObservation, WatchEvent };

export interface ListPage<T> {
  items: T[];
  /** Of the whole list: where a watch goes on. */
  resourceVersion: string;
  /** Present where more follows. */
  continue?: string;
}

/**
 * The Kubernetes API over HTTP, with keep-alive. Objects are passed as they are, unchecked. Every method rejects with
 * a KubernetesError; every request but a watch has a deadline.
 */
export interface KubernetesClient {
  /** Undefined where there is none (404). */
  read<T>(at: ResourcePath): Promise<T | undefined>;
  listPage<T>(at: ResourcePath, query: ListQuery, signal?: AbortSignal): Promise<ListPage<T>>;
  /**
   * Events until the API server ends the watch (returns) or `signal` aborts (returns). Throws where it breaks, where
   * the API tells of an ERROR, and where a line is no event.
   */
  watch<T>(at: ResourcePath, query: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent<T>>;
  /** POST, to the collection or a subresource. */
  create<T>(at: ResourcePath, object: object): Promise<T>;
  /** Server-side apply; takes over fields that others own. Creates what is missing. */
  apply<T>(at: ResourcePath, object: object, fieldManager?: string): Promise<T>;
  /** RFC 7386; a `metadata.resourceVersion` in the patch makes it conditional (409). */
  mergePatch<T>(at: ResourcePath, patch: object): Promise<T>;
  /** PUT, conditional on `metadata.resourceVersion` where the object has one (409). */
  replace<T>(at: ResourcePath, object: object): Promise<T>;
  /** Does nothing where there is none; rejects with 409 where a precondition does not hold. */
  remove(at: ResourcePath, preconditions?: { uid?: string; resourceVersion?: string }): Promise<void>;
  /** Breaks off every request and watch, and refuses later ones. */
  close(): void;
}

export interface KubernetesClientOptions {
  kubeConfig: KubeConfig;
  /** Under which the API books our fields. Default `tokenkeep-operator`. */
  fieldManager?: string;
  /** Of a whole request that is no watch, in ms. Default 30,000. */
  timeoutMs?: number;
  onRequest?: (observation: RequestObservation) => void;
}
/** Signs in as the kubeconfig says, anew for each request: tokens and certificates may be replaced under way. */
export function createKubernetesClient(options: KubernetesClientOptions): KubernetesClient {
  const { fieldManager = FIELD_MANAGER } = options;
  const requests = createRequests(options);
  const managedBy = (manager = fieldManager): URLSearchParams => new URLSearchParams({ fieldManager: manager });

  return {
    async read<T>(at: ResourcePath) {
      return absentWhere(404, requests.whole<T>({ method: 'GET', path: renderPath(at) }));
    },
    async listPage<T>(at: ResourcePath, { metadataOnly, ...query }: ListQuery, signal?: AbortSignal) {
      const accept = metadataOnly ? METADATA_LIST : JSON_TYPE;
      const request = { method: 'GET', path: renderPath(at), query: parametersOf(query), accept };
      const { items, metadata } = await requests.whole<ListBody<T>>(request, signal);
      const version = metadata?.resourceVersion;
      if (typeof version !== 'string') throw noAnswer(request.method, request.path, 'Malformed');
      return { items: items ?? [], resourceVersion: version, ...nextPage(metadata?.continue) };
    },
    watch<T>(at: ResourcePath, { metadataOnly, ...query }: WatchQuery, signal: AbortSignal) {
      const parameters = parametersOf({ ...query, watch: true, allowWatchBookmarks: true });
      const accept = metadataOnly ? METADATA : JSON_TYPE;
      const request = { method: 'GET', path: renderPath(at), query: parameters, accept };
      return watchEvents<T>(request.path, () => requests.stream(request, signal), signal);
    },
    create: (at, object) =>
      requests.whole({ method: 'POST', path: renderPath(at), query: managedBy(), body: object, type: JSON_TYPE }),
    apply(at, object, manager) {
      const query = managedBy(manager);
      query.set('force', 'true');
      return requests.whole({ method: 'PATCH', path: renderPath(at), query, body: object, type: APPLY_PATCH });
    },
    mergePatch: (at, patch) =>
      requests.whole({ method: 'PATCH', path: renderPath(at), query: managedBy(), body: patch, type: MERGE_PATCH }),
    replace: (at, object) =>
      requests.whole({ method: 'PUT', path: renderPath(at), query: managedBy(), body: object, type: JSON_TYPE }),
    async remove(at, preconditions) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...(preconditions ? { preconditions } : {}) };
      await absentWhere(404, requests.whole({ method: 'DELETE', path: renderPath(at), body, type: JSON_TYPE }));
    },
    close: () => requests.close(),
  };
}

/** Under which fields are booked that the operator writes. */
export const FIELD_MANAGER = 'tokenkeep-operator';
const JSON_TYPE = 'application/json';
const APPLY_PATCH = 'application/apply-patch+yaml';
const MERGE_PATCH = 'application/merge-patch+json';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

interface ListBody<T> {
  items?: T[] | null;
  metadata?: { resourceVersion?: string; continue?: string };
}

/** The API says an empty string where there is no more. */
function nextPage(token: string | undefined): { continue?: string } {
  return token ? { continue: token } : {};
}

function parametersOf(query: object): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
}

async function absentWhere<T>(status: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === status) return undefined;
    throw error;
  }
}
