import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import type { TestVault } from '../../support/vault.ts';
import { ACCESS_RULES, applicationName, namespaceOf, type LoadSize } from './declarations.ts';

const POLL_EVERY_MS = 2;
const GIVE_UP_MS = 60_000;

interface SecretObject {
  data: Record<string, string>;
}

export interface Enforcement {
  readonly changes: number;
  /** From the request that changes an AccessRule to the first answer of the API that follows it, in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}

async function keyOf(client: KubernetesClient, namespace: string, application: string): Promise<string> {
  const at = { group: '', version: 'v1', plural: 'secrets', namespace, name: `${application}-api-key` };
  const secret = await client.read<SecretObject>(at);
  return Buffer.from(secret!.data['api-key']!, 'base64').toString();
}

/** Moves AccessRules to another container and back, and asks the API for a token until it says so. */
export async function measureEnforcement(
  client: KubernetesClient,
  vault: TestVault,
  size: LoadSize,
  changes: number,
): Promise<Enforcement> {
  const writer = await keyOf(client, namespaceOf(0, size), applicationName(0));
  const { body } = await vault.request('POST', '/tokens', {
    key: writer,
    body: { type: 'token', data: 'x', containers: ['/bench/'] },
  });
  const tokenPath = `/tokens/${(body as { id: string }).id}`;
  const isReadable = async (key: string): Promise<boolean> => {
    const { status } = await vault.request('GET', tokenPath, { key });
    return status === 200;
  };

  const durations: number[] = [];
  const lanes = Math.min(changes, size.applications, size.rules);
  for (let change = 0; change < changes; change++) {
    const application = change % lanes;
    const namespace = namespaceOf(application, size);
    const key = await keyOf(client, namespace, applicationName(application));
    const wanted = Math.floor(change / lanes) % 2 === 0;
    const began = performance.now();
    const container = wanted ? '/bench/' : '/pci/';
    await client.mergePatch({ ...ACCESS_RULES, namespace, name: `rule-${application}` }, { spec: { container } });
    while ((await isReadable(key)) !== wanted) {
      if (performance.now() - began > GIVE_UP_MS) throw new Error('A change of a rule was not enforced');
      await delay(POLL_EVERY_MS);
    }
    durations.push(performance.now() - began);
  }
  durations.sort((a, b) => a - b);
  return { changes, p50: percentile(durations, 0.5), p99: percentile(durations, 0.99), max: durations.at(-1)! };
}
