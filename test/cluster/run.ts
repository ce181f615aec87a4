import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from 'mocha';
import { requireKubernetes, stopSharedKubernetes } from '../support/kubernetes/control-plane.ts';
import { requireKubernetesPrograms } from '../support/kubernetes/programs.ts';
import { createTestDatabase, startTestPostgres, stopTestPostgres } from '../support/postgres.ts';
import { startApiProgram } from '../support/roles/api-program.ts';
import { issueCertificate } from '../support/roles/issue-certificate.ts';
import { startOperatorProgram } from '../support/roles/operator-program.ts';
import { requireTransitServer, stopTransitServer } from '../support/transit-server.ts';
import { createTestTransit } from '../support/transit.ts';

// The parts of a cluster, as processes of this machine, for trying kubectl on: a Kubernetes control plane without a
// node, Postgres, a transit server, the API and the operator.

const SAMPLES = fileURLToPath(new URL('../../config/samples/', import.meta.url));
const OPERATOR = 'tokenkeep-system/tokenkeep-operator';
const API = 'tokenkeep-system/tokenkeep-api';

/** What needs mocha's context elsewhere: here a part that is missing ends the program. */
const context = {
  timeout: () => undefined,
  skip: () => {
    throw new Error('a part that is needed cannot be had on this machine');
  },
} as unknown as Context;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function start(parts: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-cluster-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const { kubectl } = await requireKubernetesPrograms(context);

  say('Starting Postgres');
  parts.defer(() => stopTestPostgres());
  await startTestPostgres();
  const database = await createTestDatabase();
  parts.defer(() => database.dispose());

  say('Starting the transit server');
  parts.defer(() => stopTransitServer());
  const transit = await createTestTransit(await requireTransitServer(context));
  await transit.makeKeys();

  say('Starting etcd, kube-apiserver and kube-controller-manager');
  parts.defer(() => stopSharedKubernetes());
  const cluster = await requireKubernetes(context);
  await writeFile(join(folder, 'token'), await cluster.tokenFor(OPERATOR, 'tokenkeep', 24 * 3600), { mode: 0o600 });

  say('Starting tokenkeep api');
  const { certFile, keyFile } = await issueCertificate(transit.server, folder);
  const api = await startApiProgram({
    ...{ database, transit, vaultToken: await transit.tokenFor('tokenkeep-api') },
    flags: [
      ...['--kubeconfig', await cluster.kubeconfigFor(API), '--control-plane-service-accounts', OPERATOR],
      ...['--internal-tls-cert-file', certFile, '--internal-tls-key-file', keyFile],
    ],
  });
  parts.defer(async () => void (await api.stop()));

  say('Starting tokenkeep operator');
  const operator = await startOperatorProgram([
    ...['--kubeconfig', await cluster.kubeconfigFor(OPERATOR), '--leader-election-namespace', 'tokenkeep-system'],
    ...['--internal-url', api.internalUrl, '--internal-ca-file', transit.server.caFile],
    ...['--internal-token-file', join(folder, 'token'), '--public-url', api.baseUrl],
  ]);
  parts.defer(async () => void (await operator.stop()));
  await operator.leading();

  const key = `$(kubectl get secret payments-api-key -o jsonpath='{.data.api-key}' | base64 -d)`;
  return [
    '',
    '  In another terminal:',
    '',
    `  export PATH=${dirname(kubectl)}:$PATH KUBECONFIG=${cluster.adminKubeconfig}`,
    `  kubectl apply -f ${SAMPLES}`,
    '  kubectl get tokenkeep -A',
    '  kubectl explain applications.tokenkeep.dev.spec.key',
    '  kubectl wait --for=condition=Ready applications.tokenkeep.dev --all',
    `  curl ${api.baseUrl}/tokens -H "SVC-API-KEY: ${key}" -H 'Content-Type: application/json' -d '{"type": "token", "data": "secret"}'`,
    '',
    'ready; Ctrl-C ends all of it',
  ].join('\n');
}

await using parts = new AsyncDisposableStack();
const asked = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
const text = await Promise.race([start(parts), asked.then(() => undefined)]);
if (text !== undefined) {
  say(text);
  await asked;
}
say('Ending');
