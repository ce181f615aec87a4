import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import type { ResourcePath } from '../../../src/platform/kubernetes/paths.ts';

const AT_ONCE = 16;
/** Of each unrelated object, in bytes: what a certificate or a small configuration file takes. */
const UNRELATED_BYTES = 2_000;

export const APPLICATIONS: ResourcePath = { group: 'tokenkeep.dev', version: 'v1alpha1', plural: 'applications' };
export const ACCESS_RULES: ResourcePath = { group: 'tokenkeep.dev', version: 'v1alpha1', plural: 'accessrules' };
const TENANTS: ResourcePath = { group: 'tokenkeep.dev', version: 'v1alpha1', plural: 'tenants' };
const CORE = { group: '', version: 'v1' };
const API_VERSION = 'tokenkeep.dev/v1alpha1';

export interface LoadSize {
  readonly applications: number;
  /** Shared out among the applications in turn. */
  readonly rules: number;
  readonly namespaces: number;
}

export const namespaceOf = (index: number, { namespaces }: LoadSize): string => `load-${index % namespaces}`;
export const applicationName = (index: number): string => `app-${index}`;

/** Runs `work` for 0 to `count` - 1, several at a time. */
async function forEach(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function createNamespace(client: KubernetesClient, name: string): Promise<unknown> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  return client.create({ ...CORE, plural: 'namespaces' }, object);
}

/** Of the rule's application, which is of the rule's namespace. */
export function ruleSpec(application: string, priority: number, container: string): object {
  const grants = { priority, container, transform: 'reveal', permissions: ['token:read'] };
  return { applicationRef: { name: application }, ...grants };
}

/** Makes Applications with their AccessRules, for an operator to find; requests of theirs are not limited. */
export async function declareLoad(client: KubernetesClient, size: LoadSize): Promise<void> {
  const tenant = { type: 'production', quotas: { rateLimit: 'Unlimited' } };
  await client.create(TENANTS, {
    ...{ apiVersion: API_VERSION, kind: 'Tenant' },
    ...{ metadata: { name: 'default' }, spec: tenant },
  });
  await forEach(size.namespaces, (index) => createNamespace(client, namespaceOf(index, size)));
  await forEach(size.applications, (index) => {
    const namespace = namespaceOf(index, size);
    const metadata = { name: applicationName(index), namespace };
    const spec = { type: 'private', permissions: ['token:create'] };
    return client.create(
      { ...APPLICATIONS, namespace },
      { apiVersion: API_VERSION, kind: 'Application', metadata, spec },
    );
  });
  await forEach(size.rules, (index) => {
    const application = index % size.applications;
    const namespace = namespaceOf(application, size);
    const priority = 1 + Math.floor(index / size.applications);
    const metadata = { name: `rule-${index}`, namespace };
    const spec = ruleSpec(applicationName(application), priority, '/pci/');
    return client.create(
      { ...ACCESS_RULES, namespace },
      { apiVersion: API_VERSION, kind: 'AccessRule', metadata, spec },
    );
  });
}

/** Makes Secrets and ConfigMaps, by turns, that nobody refers to, in the namespaces of the load. */
export async function addUnrelated(client: KubernetesClient, count: number, size: LoadSize): Promise<void> {
  const content = 'x'.repeat(UNRELATED_BYTES);
  await forEach(count, (index) => {
    const isSecret = index % 2 === 0;
    const namespace = namespaceOf(index >> 1, size);
    const body = isSecret ? { kind: 'Secret', stringData: { content } } : { kind: 'ConfigMap', data: { content } };
    return client.create(
      { ...CORE, plural: isSecret ? 'secrets' : 'configmaps', namespace },
      { apiVersion: 'v1', ...body, metadata: { name: `unrelated-${index}`, namespace } },
    );
  });
}
