import type { KubernetesNode } from './node/node.ts';
import { RELEASE } from './release.ts';

/** The namespace of Postgres and OpenBao. */
export const BACKING = 'backing';

/** Runs one SQL statement as Postgres's superuser, to whom all rows are visible; resolves with what it gives. */
export async function querySql(node: KubernetesNode, sql: string): Promise<string> {
  const psql = ['psql', '--username=postgres', '--dbname=vault', '--no-psqlrc', '--tuples-only', '--no-align'];
  const answer = await node.demand(['exec', '-n', BACKING, 'postgres-0', '--', ...psql, `--command=${sql}`]);
  return answer.trim();
}

/** Where the pod of OpenBao keeps its root token, once there is one. */
export const ROOT_TOKEN_FILE = '/tmp/root-token';

/** Runs shell commands beside OpenBao, as its root where there is one yet. */
export async function runInOpenBao(node: KubernetesNode, script: string): Promise<string> {
  const asRoot = `[ ! -e ${ROOT_TOKEN_FILE} ] || export BAO_TOKEN="$(cat ${ROOT_TOKEN_FILE})"`;
  return node.demand(['exec', '-i', '-n', BACKING, 'openbao-0', '--', 'sh', '-eus'], { input: `${asRoot}\n${script}` });
}

/** What the API's login to OpenBao may do: policies of config/vault. It holds for logins from now on. */
export async function allowApi(node: KubernetesNode, policies: readonly string[]): Promise<void> {
  await runInOpenBao(
    node,
    `bao write auth/kubernetes/role/tokenkeep \\
  bound_service_account_names=${RELEASE.name}-api bound_service_account_namespaces=${RELEASE.namespace} \\
  audience=vault token_policies=${policies.join(',')} token_no_default_policy=true token_ttl=1h
`,
  );
}
