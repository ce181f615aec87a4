import { tlsSecretName } from './names.ts';
import { SUPERVISOR_ENVIRONMENT } from './supervisor-environment.ts';

/** What all pods of an installation have in common. */
export interface PodSettings {
  /** The image of Tokenkeep. */
  readonly image: string;
  /** Secrets of the namespace with credentials for its registry. */
  readonly imagePullSecrets: readonly string[];
  /** What they listen on, where the kubelet and the API find them. */
  readonly host: string;
}

export interface PodRequest extends PodSettings {
  readonly name: string;
  /** Arguments of `tokenkeep`, without those that all pods have. */
  readonly args: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** By which the pods of one Deployment are spread over nodes. */
  readonly selector: Readonly<Record<string, string>>;
  readonly memoryBytes: number;
  /** How long what runs may take to come to its end, in s. */
  readonly drainSeconds: number;
  /** Secrets to mount, by the folder. */
  readonly mounts: Readonly<Record<string, string>>;
}

export const SERVICE_PORT = 8443;
export const HEALTH_PORT = 8081;
export const TLS_FOLDER = '/etc/tokenkeep/tls';
export const WORKLOAD_FOLDER = '/etc/tokenkeep/workload';

/** Nobody's: neither root nor a user that an image is likely to have. */
const USER_ID = 65_532;
const MIB = 1024 * 1024;
/**
 * Beyond `memoryBytes`, of which the child has all but 64 MiB (`planMemory`): both are for the supervisor. Of its
 * own, under code that has it hold all it can, it had 113 MB at most (test/integration/reactors/hostile.supervisor);
 * beside it are 55 MB of files, which the kernel drops first. So the child meets its own bound before the pod this one.
 */
const OVERHEAD_BYTES = 96 * MIB;
/** Below this the child's own bound does not fall any further (`planMemory` in reactors/host/child-process.ts). */
const SMALLEST_BYTES = 224 * MIB;
const CPU_REQUEST = '50m';
/** Over the time that an invocation may take: to be left out of what is called, and to close. */
const GRACE_SECONDS = 10;

/** A pod that the Pod Security Standard "restricted" admits, and that can do nothing but run code and be called. */
export function buildPodTemplate(request: PodRequest) {
  const { name, labels, selector, imagePullSecrets, drainSeconds } = request;
  const mounts = { [TLS_FOLDER]: tlsSecretName(name), ...request.mounts };
  return {
    metadata: { labels: { ...labels } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // What the process of the code leaves behind is reaped by the pod's own first process: Node reaps no orphans.
      shareProcessNamespace: true,
      ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((each) => ({ name: each })) }),
      securityContext: {
        runAsNonRoot: true,
        ...{ runAsUser: USER_ID, runAsGroup: USER_ID, fsGroup: USER_ID },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      terminationGracePeriodSeconds: drainSeconds + GRACE_SECONDS,
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { ...selector } },
        },
      ],
      containers: [buildContainer(request, mounts)],
      volumes: Object.entries(mounts).map(([folder, secretName]) => ({
        name: volumeName(folder),
        secret: { secretName, defaultMode: 0o440 },
      })),
    },
  };
}

export type PodTemplate = ReturnType<typeof buildPodTemplate>;

export const CONTAINER_NAME = 'reactor';

function buildContainer({ image, args, host, memoryBytes }: PodRequest, mounts: Readonly<Record<string, string>>) {
  const memory = `${Math.ceil((Math.max(memoryBytes, SMALLEST_BYTES) + OVERHEAD_BYTES) / MIB)}Mi`;
  return {
    name: CONTAINER_NAME,
    image,
    args: [
      ...args,
      ...[`--tls-dir=${TLS_FOLDER}`, `--host=${host}`, `--port=${SERVICE_PORT}`, `--health-port=${HEALTH_PORT}`],
    ],
    env: Object.entries(SUPERVISOR_ENVIRONMENT).map(([key, value]) => ({ name: key, value })),
    ports: [
      { name: 'https', containerPort: SERVICE_PORT, protocol: 'TCP' },
      { name: 'health', containerPort: HEALTH_PORT, protocol: 'TCP' },
    ],
    // No limit of CPU: a throttled supervisor would answer late for code that is over its budget.
    resources: { requests: { cpu: CPU_REQUEST, memory }, limits: { memory } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
    },
    startupProbe: { ...probe('/readyz'), periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 2, failureThreshold: 2 },
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 3 },
    // What the program itself says last. Its output is no fallback: that holds what code has logged.
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: Object.keys(mounts).map((folder) => ({
      name: volumeName(folder),
      mountPath: folder,
      readOnly: true,
    })),
  };
}

function probe(path: string) {
  return { httpGet: { path, port: 'health', scheme: 'HTTP' }, timeoutSeconds: 3 };
}

function volumeName(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1);
}
