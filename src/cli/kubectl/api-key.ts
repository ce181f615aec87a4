import type { Cluster } from './cluster.ts';
import type { PluginOptions } from './options.ts';
import { PluginError } from './plugin-error.ts';
import { readResource } from './resources.ts';

/** The entry of an application's Secret. */
const KEY_ENTRY = 'api-key';

/** The key that a call is made with: that of `--application`, else that of the environment. */
export async function findApiKey(cluster: Cluster, { application, apiKey }: PluginOptions): Promise<string> {
  if (application !== undefined) return keyOfApplication(cluster, application);
  if (apiKey) return apiKey;
  throw new PluginError('which key? Give --application NAME, or a key in the variable TOKENKEEP_API_KEY');
}

async function keyOfApplication(cluster: Cluster, application: string): Promise<string> {
  const { status } = await readResource(cluster, 'Application', application);
  if (status?.secretName === undefined) {
    throw new PluginError(`the Application ${application} has no Secret: \`kubectl tokenkeep status\` says why`);
  }
  const secrets = { group: '', version: 'v1', plural: 'secrets', namespace: cluster.namespace };
  const secret = await cluster.client.read<{ data?: Record<string, string> }>({ ...secrets, name: status.secretName });
  if (secret === undefined) {
    throw new PluginError(`there is no Secret ${status.secretName} in the namespace ${cluster.namespace}`);
  }
  const key = Buffer.from(secret.data?.[KEY_ENTRY] ?? '', 'base64').toString('utf8');
  if (key === '') throw new PluginError(`the Secret ${status.secretName} holds no ${KEY_ENTRY}`);
  return key;
}
