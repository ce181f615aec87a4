import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createAuthority, issueCertificate } from '../../../src/operator/workloads/certificates.ts';
import { allowApi, BACKING, ROOT_TOKEN_FILE, runInOpenBao } from '../backing.ts';
import { apply, restrictedNamespace, secret } from '../manifests/objects.ts';
import { openBao } from '../manifests/openbao.ts';
import { postgres } from '../manifests/postgres.ts';
import type { KubernetesNode } from '../node/node.ts';
import { RELEASE } from '../release.ts';
import type { Step } from '../step.ts';

const POLICIES = ['tokenkeep-api', 'tokenkeep-keys', 'tokenkeep-audit'];
/** How long OpenBao takes at most, in s. */
const UNSEALED_SECONDS = 60;

/** Each user of docs/database-users.md. */
const USERS = ['owner', 'api', 'sweeper'] as const;

/** Postgres and OpenBao as others run them in the cluster, and the Secrets by which the chart is told of them. */
export const startBackingServices: Step = {
  name: 'start Postgres and OpenBao',
  async run(stage) {
    const node = stage.get('node');
    const image = stage.get('neighbours');
    const passwords = Object.fromEntries(USERS.map((user) => [user, randomBytes(12).toString('hex')]));
    const authority = await createAuthority(Date.now());
    const name = `openbao.${BACKING}.svc`;
    const { certificate, key } = await issueCertificate(authority, { name, usage: 'server' }, Date.now());

    const policies: [string, string][] = [];
    for (const policy of POLICIES) {
      const file = new URL(`../../../config/vault/${policy}.hcl`, import.meta.url);
      policies.push([policy, await readFile(file, 'utf8')]);
    }
    await apply(node, [
      restrictedNamespace(BACKING),
      restrictedNamespace(RELEASE.namespace),
      ...postgres({ namespace: BACKING, image, password: randomBytes(12).toString('hex'), sql: usersSql(passwords) }),
      ...openBao({
        ...{ namespace: BACKING, image, sealKey: randomBytes(32), policies: Object.fromEntries(policies) },
        tls: { certificate, key, authority: authority.certificate },
      }),
      ...USERS.map((user) => {
        const uri = `postgres://${user}:${passwords[user]}@postgres.${BACKING}.svc:5432/vault`;
        return secret(RELEASE.namespace, `database-${user}`, { uri });
      }),
      secret(RELEASE.namespace, 'vault-authority', { 'ca.crt': authority.certificate }),
    ]);
    const all = ['rollout', 'status', '-n', BACKING, '--timeout=90s'];
    await node.demand([...all, 'statefulset/postgres']);
    await node.demand([...all, 'statefulset/openbao']);
    await setUpOpenBao(node);
    stage.set('vaultAddress', `https://${name}:8200`);
  },
};

function usersSql(passwords: Readonly<Record<string, string>>): string {
  return `create role tokenkeep_api nologin;
create role tokenkeep_sweeper nologin;
create user owner password '${passwords['owner']}';
create user api password '${passwords['api']}' in role tokenkeep_api;
create user sweeper password '${passwords['sweeper']}' in role tokenkeep_sweeper;
alter database vault owner to owner;
`;
}

/** As docs/keys.md has it: the keys are made by whoever runs it, and the API logs in by its ServiceAccount. */
async function setUpOpenBao(node: KubernetesNode): Promise<void> {
  const answer = await runInOpenBao(node, 'bao operator init -recovery-shares=1 -recovery-threshold=1 -format=json');
  const { root_token: token } = JSON.parse(answer) as { root_token: string };
  await runInOpenBao(
    node,
    `printf %s ${token} > ${ROOT_TOKEN_FILE}
export BAO_TOKEN=${token}
timeout ${UNSEALED_SECONDS} sh -c 'until bao status > /dev/null; do sleep 0.2; done'
bao secrets enable transit
bao write transit/keys/tokenkeep type=aes256-gcm96 derived=true
bao write transit/keys/tokenkeep-cvc type=aes256-gcm96 derived=true
bao write transit/keys/tokenkeep-audit type=hmac key_size=32
for policy in ${POLICIES.join(' ')}; do bao policy write "$policy" "/secrets/$policy.hcl"; done
bao auth enable kubernetes
bao write auth/kubernetes/config kubernetes_host=https://kubernetes.default.svc
`,
  );
  await allowApi(node, ['tokenkeep-api']);
}
