import type { KubernetesError } from '../../platform/kubernetes/errors.ts';

/** A command cannot do what it was asked for. The message is for the person who asked, and holds no data. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

/** In words of this program why the cluster gave no answer, or not the one that was hoped for. */
export function explain(error: KubernetesError, server: string): string {
  // The API's own words: who, which verb, which resource and where. No object is written here that they could quote.
  if (error.status === 403) return `the cluster does not let you: ${error.detail ?? error.message}`;
  if (error.status === 401) return `the cluster at ${server} does not know you: its credentials may have expired`;
  if (error.reason === 'NotSignedIn') return 'the kubeconfig gives no credentials that work';
  if (error.reason === 'Disconnected' || error.reason === 'TimedOut') return `no cluster answers at ${server}`;
  return `${error.message}${error.detail === undefined ? '' : `: ${error.detail}`}`;
}
