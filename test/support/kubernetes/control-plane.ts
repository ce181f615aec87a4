import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from 'mocha';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { createComponent } from './component.ts';
import { createCredentials, writeKubeconfig } from './credentials.ts';
import { RELEASE, renderAccess, requireHelm } from './helm.ts';
import { requireKubernetesPrograms, type KubernetesPrograms } from './programs.ts';

const CRDS = fileURLToPath(new URL('../../../crds/', import.meta.url));
const START_DEADLINE_MS = 120_000;
/** Those that tests see the work of. Each one more costs the machine. */
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
  'deployment-controller',
  'replicaset-controller',
];
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A real control plane: etcd, kube-apiserver and kube-controller-manager, with our CRDs and what else the chart
 * installs but its programs: the ServiceAccount `tokenkeep-system/tokenkeep-operator` has exactly the chart's roles. There is no node:
 * pods never run.
 */
export interface KubernetesCluster {
  /** `https://127.0.0.1:port` */
  readonly server: string;
  /** Of the authority that signed the API server's certificate; PEM. */
  readonly caFile: string;
  /** Path; a member of `system:masters`. */
  readonly adminKubeconfig: string;
  readonly adminToken: string;
  /** A line of JSON for each request (audit.k8s.io/v1, level Metadata). */
  readonly auditLog: string;
  /** With the administrator's kubeconfig unless told; never rejects for a code other than 0. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<CommandResult>;
  /** As kubectl, for what must succeed; resolves with its output. */
  demand(args: readonly string[], options?: KubectlOptions): Promise<string>;
  /** Makes a namespace of a new name. */
  namespace(labels?: Record<string, string>): Promise<string>;
  /** The path of a kubeconfig of a ServiceAccount (`namespace/name`), which is made where there is none. */
  kubeconfigFor(serviceAccount: string): Promise<string>;
  /** A token of a ServiceAccount. Kubernetes grants no fewer than 600 seconds. */
  tokenFor(serviceAccount: string, audience?: string, seconds?: number): Promise<string>;
  /** As a machine that goes away. What is stored stays. */
  killApiServer(): Promise<void>;
  /** Again, on the same port; resolves once it is ready. */
  startApiServer(): Promise<void>;
  killStore(): Promise<void>;
  startStore(): void;
  stop(): Promise<void>;
}

export interface KubectlOptions {
  readonly input?: string;
  readonly kubeconfig?: string;
}

export interface KubernetesOptions {
  /** Further flags of kube-apiserver. */
  readonly apiServerFlags?: readonly string[];
}

let running: Promise<KubernetesCluster> | undefined;

/**
 * The control plane that all tests of a run share. Where there is none to be had, skips the tests and says so; in CI,
 * fails them. To be called in a `before` hook.
 */
export async function requireKubernetes(context: Context): Promise<KubernetesCluster> {
  const programs = await requireKubernetesPrograms(context);
  await requireHelm(context);
  running ??= startKubernetes(programs);
  return running;
}

/** One of a test's own, which it may break, and must stop. To be called in a `before` hook. */
export async function requireOwnKubernetes(context: Context, options?: KubernetesOptions): Promise<KubernetesCluster> {
  const programs = await requireKubernetesPrograms(context);
  await requireHelm(context);
  return startKubernetes(programs, options);
}

/** Stops what `requireKubernetes` has started. */
export async function stopSharedKubernetes(): Promise<void> {
  await (await running)?.stop();
  running = undefined;
}

export async function startKubernetes(
  programs: KubernetesPrograms,
  { apiServerFlags = [] }: KubernetesOptions = {},
): Promise<KubernetesCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-kubernetes-'));
  const inFolder = (name: string): string => join(folder, name);
  const ports = { client: await freePort(), peer: await freePort(), api: await freePort() };
  const store = `http://127.0.0.1:${ports.client}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  const server = `https://127.0.0.1:${ports.api}`;
  const caFile = inFolder('certificates/apiserver.crt');
  const adminKubeconfig = inFolder('admin.kubeconfig');
  const auditLog = inFolder('audit.log');
  const { adminToken, tokenFile, signingKeyFile } = await createCredentials(folder);
  await mkdir(inFolder('home'));
  await writeFile(inFolder('audit-policy.json'), JSON.stringify(AUDIT_POLICY));
  await writeKubeconfig(adminKubeconfig, { server, caFile, token: adminToken });

  const etcd = createComponent(
    programs.etcd,
    [
      `--data-dir=${inFolder('etcd')}`,
      `--listen-client-urls=${store}`,
      `--advertise-client-urls=${store}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      '--unsafe-no-fsync',
      '--log-level=error',
    ],
    inFolder('etcd.log'),
  );
  const apiServer = createComponent(
    programs.apiServer,
    [
      `--etcd-servers=${store}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${ports.api}`,
      // Without files of its own, it makes itself a certificate there, with the authority's beside.
      `--cert-dir=${inFolder('certificates')}`,
      `--token-auth-file=${tokenFile}`,
      `--service-account-key-file=${signingKeyFile}`,
      `--service-account-signing-key-file=${signingKeyFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--authorization-mode=RBAC',
      // What a client sends to a pod's command is handed on as it is: the nodes of tests speak no SPDY.
      '--feature-gates=TranslateStreamCloseWebsocketRequests=false',
      `--audit-policy-file=${inFolder('audit-policy.json')}`,
      `--audit-log-path=${auditLog}`,
      ...apiServerFlags,
    ],
    inFolder('apiserver.log'),
  );
  const controllerManager = createComponent(
    programs.controllerManager,
    [
      `--kubeconfig=${adminKubeconfig}`,
      `--service-account-private-key-file=${signingKeyFile}`,
      `--controllers=${CONTROLLERS.join(',')}`,
      '--leader-elect=false',
      '--secure-port=0',
    ],
    inFolder('controller-manager.log'),
  );

  function kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<CommandResult> {
    const { kubeconfig = adminKubeconfig, input } = options;
    return new Promise((resolve) => {
      const child = execFile(
        programs.kubectl,
        [`--kubeconfig=${kubeconfig}`, ...args],
        // Where it keeps what it has found out about the server.
        { env: { PATH: process.env['PATH'], HOME: inFolder('home') }, maxBuffer: 256 * 1024 * 1024 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  }

  async function demand(args: readonly string[], options?: KubectlOptions): Promise<string> {
    const { code, stdout, stderr } = await kubectl(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  async function startApiServer(): Promise<void> {
    apiServer.start();
    const isReady = async (): Promise<void> => {
      await apiServer.assertRunning();
      await demand(['get', '--raw', '/readyz']);
    };
    await eventually(isReady, { deadlineMs: START_DEADLINE_MS });
  }

  async function ensureServiceAccount(namespace: string, name: string): Promise<void> {
    await kubectl(['create', 'namespace', namespace]);
    await kubectl(['create', 'serviceaccount', name, '-n', namespace]);
  }

  async function tokenFor(serviceAccount: string, audience?: string, seconds = 3600): Promise<string> {
    const [namespace = '', name = ''] = serviceAccount.split('/');
    await ensureServiceAccount(namespace, name);
    const audiences = audience === undefined ? [] : [`--audience=${audience}`];
    const token = await demand(['create', 'token', name, '-n', namespace, `--duration=${seconds}s`, ...audiences]);
    return token.trim();
  }

  async function stop(): Promise<void> {
    await controllerManager.stop();
    await apiServer.kill();
    await etcd.kill();
    await rm(folder, { recursive: true, force: true });
  }

  try {
    etcd.start();
    await startApiServer();
    controllerManager.start();
    await demand(['apply', '--server-side', '-f', CRDS]);
    await demand(['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS]);
    await demand(['create', 'namespace', RELEASE.namespace]);
    // The definitions are those of the checkout: the chart's copies follow when files are generated. What the chart
    // runs, tests start themselves.
    await demand(['apply', '--server-side', '-f', '-'], { input: await renderAccess() });
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    server,
    caFile,
    adminKubeconfig,
    adminToken,
    auditLog,
    kubectl,
    demand,
    async namespace(labels = {}) {
      const name = `test-${randomBytes(5).toString('hex')}`;
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
      await demand(['create', '-f', '-'], { input: JSON.stringify(object) });
      return name;
    },
    async kubeconfigFor(serviceAccount) {
      const file = inFolder(`${serviceAccount.replace('/', '.')}.kubeconfig`);
      await writeKubeconfig(file, { server, caFile, token: await tokenFor(serviceAccount) });
      return file;
    },
    tokenFor,
    killApiServer: () => apiServer.kill(),
    startApiServer,
    killStore: () => etcd.kill(),
    startStore: () => etcd.start(),
    stop,
  };
}
