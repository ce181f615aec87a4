import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { InternalApiError } from '../operator/internal-client.ts';

/** Where Kubernetes tells a pod its namespace. */
const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** The namespace of the Lease: the one that is configured, else the pod's own. */
export function leaseNamespace(configured: string | undefined): Promise<string> {
  return ownNamespaceUnless(
    configured,
    'whose namespace the Lease would be in: give --leader-election-namespace, or --leader-election off where there ' +
      'never is another operator',
  );
}

/** The namespace where reactors run: the one that is configured, else the pod's own. */
export function reactorNamespace(configured: string | undefined): Promise<string> {
  return ownNamespaceUnless(configured, 'in whose namespace reactors would run: give --reactor-namespace');
}

/** The namespace of the API's pods: the one that is configured, else the pod's own. */
export function apiPodNamespace(configured: string | undefined): Promise<string> {
  return ownNamespaceUnless(configured, 'in whose namespace the API would be: give --api-pod-namespace');
}

async function ownNamespaceUnless(configured: string | undefined, otherwise: string): Promise<string> {
  if (configured !== undefined) return configured;
  try {
    return (await readFile(NAMESPACE_FILE, 'utf8')).trim();
  } catch (cause) {
    throw new Error(`this process runs in no pod, ${otherwise}`, { cause });
  }
}

/** The name of the pod, or of the machine. */
export function podName(): string {
  return hostname();
}

/**
 * Reads a token that Kubernetes replaces before it ends. Rejects with an InternalApiError that names the file, and
 * never holds anything of it.
 */
export async function readToken(file: string): Promise<string> {
  const token = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      throw new InternalApiError(`The operator's token cannot be read from ${file} (${error.code})`, undefined, error);
    },
  );
  // Node's refusal of such a header would not say which file it comes from.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new InternalApiError(`${file} does not hold a token and nothing else`);
  return token;
}
