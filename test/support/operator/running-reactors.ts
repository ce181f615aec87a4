import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';
import { API_CLIENT_NAME, SVC_FILES } from '../../../src/domain/reactor-certificates.ts';
import { createAuthority, issueCertificate } from '../../../src/operator/workloads/certificates.ts';
import { CLIENT_SECRET, REACTOR_LABEL, REVISION_LABEL } from '../../../src/operator/workloads/names.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { openServerCertificate, tlsFilesOf } from '../../../src/platform/server-certificate.ts';
import type { CertificateFiles, KeyPair, ServerCertificate } from '../../../src/platform/server-certificate.ts';
import { eventually } from '../eventually.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import type { KubeletPod } from '../kubernetes/kubelet-pod.ts';
import { startTestKubelet } from '../kubernetes/kubelet.ts';
import type { TestKubelet } from '../kubernetes/kubelet.ts';
import { mountSecret } from '../kubernetes/mounted-secret.ts';
import { startTestVault } from '../vault.ts';
import type { Answer, TestApplication, TestVault } from '../vault.ts';
import { startOperatorProcess } from './operator-process.ts';
import type { OperatorProcess } from './operator-process.ts';
import { createReactorCluster, REACTOR_IMAGE } from './reactor-cluster.ts';
import type { ReactorCluster } from './reactor-cluster.ts';

/** A vault, an operator and a node, each as in a cluster, whose reactors are processes of this machine. */
export interface RunningReactors {
  readonly vault: TestVault;
  readonly bench: ReactorCluster;
  readonly kubelet: TestKubelet;
  readonly operator: OperatorProcess;
  /** Of the tenant that is not declared. */
  readonly application: TestApplication;
  /** Applies a Reactor; gives its id. */
  declare(name: string, spec: object): Promise<string>;
  undeclare(name: string): Promise<void>;
  /** A Reactor as the API server has it. */
  read(name: string): Promise<DeclaredReactor>;
  /** `status` of a Reactor. */
  statusOf(name: string): Promise<Record<string, unknown>>;
  react(reactorId: string, args?: object, application?: TestApplication): Promise<Answer>;
  /** Pods of a reactor that have not ended, of one revision where told. */
  podsOf(reactorId: string, revision?: string): KubeletPod[];
  close(): Promise<void>;
}

export interface DeclaredReactor {
  readonly status?: { readonly conditions: { type: string; status: string; reason: string }[] };
}

const DEADLINE = { deadlineMs: 60_000, everyMs: 50 };
const TENANT = tenantIdOf('default');
const OPERATOR = 'tokenkeep-system/tokenkeep-operator';

export async function startRunningReactors(cluster: KubernetesCluster): Promise<RunningReactors> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-running-reactors-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const bench = await createReactorCluster(cluster);
  undo.defer(() => bench.close());
  const namespace = await cluster.namespace();
  undo.defer(async () => void (await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false'])));
  const identity = lateIdentity();
  undo.defer(() => identity.close());
  const svc = lateIdentity(await strangersPair());
  undo.defer(() => svc.close());
  const vault = await startTestVault({ reactorIdentity: identity, svc: { port: 0, certificate: svc } });
  undo.defer(() => vault.stop());
  const kubelet = await startTestKubelet(cluster, {
    namespace: bench.namespace,
    labelSelector: 'app.kubernetes.io/managed-by=tokenkeep',
  });
  undo.defer(() => kubelet.close());

  const tokenFile = join(folder, 'internal-token');
  await writeFile(tokenFile, vault.internalToken, { mode: 0o600 });
  const operator = startOperatorProcess({
    flags: [
      ...['--kubeconfig', await cluster.kubeconfigFor(OPERATOR), '--leader-election', 'off'],
      ...['--internal-url', vault.internalUrl, '--internal-token-file', tokenFile, '--public-url', vault.baseUrl],
      ...['--reactor-image', REACTOR_IMAGE, '--reactor-namespace', bench.namespace],
      ...['--api-pod-namespace', namespace, '--watch-namespaces', namespace],
      ...['--metrics-port', '0', '--health-port', '0'],
    ],
  });
  undo.defer(async () => {
    operator.signal('SIGTERM');
    const timer = setTimeout(() => operator.signal('SIGKILL'), 15_000);
    await operator.ended;
    clearTimeout(timer);
  });

  // As the API's own kubelet mounts it.
  const at = { group: '', version: 'v1', plural: 'secrets', namespace, name: CLIENT_SECRET };
  const client = await eventually(async () => {
    const secret = await bench.admin.read<{ data?: Record<string, string> }>(at);
    if (secret === undefined) throw new Error(`no ${CLIENT_SECRET} where the API is:\n${operator.output()}`);
    return secret;
  }, DEADLINE);
  const entries = Object.entries(client.data ?? {}).map(([name, text]) => [name, Buffer.from(text, 'base64')]);
  await mountSecret(join(folder, 'tls'), Object.fromEntries(entries) as Record<string, Buffer>);
  await identity.open(tlsFilesOf(join(folder, 'tls')));
  await svc.open({
    certFile: join(folder, 'tls', SVC_FILES.certFile),
    keyFile: join(folder, 'tls', SVC_FILES.keyFile),
  });
  const application = await eventually(() => vault.application({ tenantId: TENANT }), DEADLINE);

  const reactorAt = (name: string) => ({
    ...{ group: 'tokenkeep.dev', version: 'v1alpha1', plural: 'reactors', namespace, name },
  });
  const read = async (name: string): Promise<DeclaredReactor> => {
    const found = await bench.admin.read<DeclaredReactor>(reactorAt(name));
    if (found === undefined) throw new Error(`There is no Reactor ${name}`);
    return found;
  };
  const all = undo.move();
  return {
    ...{ vault, bench, kubelet, operator, application },
    async declare(name, spec) {
      const object = { apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Reactor', metadata: { name, namespace }, spec };
      await bench.admin.apply(reactorAt(name), object, 'tests');
      return declaredId(TENANT, 'Reactor', namespace, name);
    },
    undeclare: (name) => bench.admin.remove(reactorAt(name)),
    read,
    statusOf: async (name) => ({ ...(await read(name)).status }),
    react: (reactorId, args = {}, { key } = application) =>
      vault.request('POST', `/reactors/${reactorId}/react`, { key, body: { args } }),
    podsOf: (reactorId, revision) =>
      kubelet.pods.filter(
        ({ labels }) =>
          labels[REACTOR_LABEL] === reactorId && (revision === undefined || labels[REVISION_LABEL] === revision),
      ),
    close: () => all.disposeAsync(),
  };
}

/** Of an API whose Secret is there only once the operator is. */
function lateIdentity(before?: KeyPair): ServerCertificate & { open(files: CertificateFiles): Promise<void> } {
  let opened: ServerCertificate | undefined;
  const listeners: ((pair: KeyPair) => void)[] = [];
  return {
    get current() {
      const current = opened?.current ?? before;
      if (current === undefined) throw new Error('the operator has not issued the certificate of the API yet');
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
    close: () => opened?.close(),
    async open(files) {
      opened = await openServerCertificate({ ...files, logger: silentLogger });
      const tell = (pair: KeyPair) => listeners.forEach((listener) => listener(pair));
      opened.onChange(tell);
      tell(opened.current);
    },
  };
}

/** Nobody believes it. */
async function strangersPair(): Promise<KeyPair> {
  const subject = { name: API_CLIENT_NAME, usage: 'server' } as const;
  const { certificate, key } = await issueCertificate(await createAuthority(Date.now()), subject, Date.now());
  return { cert: certificate, key };
}
