import { NEEDED_VALUES, type ChartValues } from '../support/kubernetes/helm.ts';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** Installations that differ in what they render. Together they set every value that changes more than a text. */
export const VALUE_SETS = {
  default: NEEDED_VALUES,
  dev: { dev: { enabled: true } },
  'dev-kept': {
    dev: { enabled: true, persistence: { enabled: true, size: '5Gi', storageClass: 'fast' } },
    reactors: { enabled: false },
    networkPolicy: { enabled: false },
  },
  'two-namespaces': {
    ...NEEDED_VALUES,
    operator: { watchNamespaces: ['payments', 'checkout'] },
    reactors: { namespace: 'reactors', createNamespace: true },
  },
  restricted: {
    ...NEEDED_VALUES,
    operator: { serviceAccount: { annotations: { 'example.com/owner': 'platform' } } },
    rbac: { aggregateToView: false, serviceBinding: false },
  },
  urls: {
    database: {
      url: 'postgres://api:password-of-api@db.example:5432/vault',
      maintenance: { url: 'postgres://sweeper:password-of-sweeper@db.example:5432/vault' },
      migration: { url: 'postgres://owner:password-of-owner@db.example:5432/vault' },
    },
    vault: {
      address: 'https://vault.example',
      auth: 'approle',
      approle: { roleId: 'role-1', existingSecret: { name: 'vault-approle' } },
      ca: { existingSecret: { name: 'vault-ca' } },
    },
    redis: { url: 'rediss://:password-of-redis@redis.example:6379' },
    internalTls: { mode: 'ExistingSecret', existingSecret: 'internal' },
  },
  cloudnativepg: {
    database: {
      existingSecret: { name: 'vault-db-api' },
      maintenance: { existingSecret: { name: 'vault-db-sweeper' } },
      migration: { existingSecret: { name: 'vault-db-app' } },
      urlParameters: 'sslmode=verify-full&sslrootcert=/etc/tokenkeep/database-ca/ca.crt',
      ca: { existingSecret: { name: 'vault-db-ca' } },
    },
    vault: {
      address: 'http://openbao.vault.svc:8200',
      allowHttp: true,
      auth: 'token',
      token: { file: '/vault/token' },
    },
    migrations: { mode: 'InitContainer' },
    internalTls: { mode: 'CertManager' },
    ipFamily: 'IPv6',
    api: {
      extraVolumes: [{ name: 'agent', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'agent', mountPath: '/vault' }],
    },
  },
  everything: {
    fullnameOverride: 'vault',
    image: { registry: 'registry.example:5000', repository: 'platform/tokenkeep', tag: '1.2.3', digest: DIGEST },
    imagePullSecrets: ['registry'],
    publicUrl: 'https://vault.example',
    database: { existingSecret: { name: 'database', key: 'url' } },
    migrations: { mode: 'Manual' },
    vault: {
      address: 'https://vault.example:8200',
      authMount: 'k8s/eu',
      kubernetes: { role: 'vault-api', audience: 'https://vault.example' },
      namespace: 'team/cards',
      timeout: '5s',
      transitMount: 'cards/transit',
      transitKey: 'cards',
    },
    redis: { existingSecret: { name: 'redis' } },
    api: {
      headerPrefixes: ['SVC'],
      corsOrigins: ['https://shop.example', 'https://pay.example'],
      callbackHttpHosts: ['receiver.shop.svc:8080'],
      trustedProxies: 2,
      ipRateLimits: false,
      keyRotation: '90d',
      logLevel: 'debug',
      drainSeconds: 20,
      graceSeconds: 30,
      service: { type: 'LoadBalancer', port: 8080, annotations: { 'example.com/internal': 'true' } },
      ingress: {
        enabled: true,
        className: 'nginx',
        annotations: { 'example.com/limit': '10' },
        hosts: ['vault.example'],
        tls: [{ hosts: ['vault.example'], secretName: 'vault-tls' }],
      },
      autoscaling: {
        enabled: true,
        minReplicas: 3,
        maxReplicas: 12,
        metrics: [
          { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 80 } } },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
      },
      podDisruptionBudget: { maxUnavailable: '25%' },
      serviceAccount: { annotations: { 'example.com/role': 'api' } },
      affinity: { nodeAffinity: {} },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'vault', operator: 'Exists' }],
      priorityClassName: 'critical',
      podAnnotations: { 'example.com/scrape': 'no' },
      podLabels: { team: 'payments' },
      extraArgs: ['--log-format=pretty'],
      extraEnv: [{ name: 'OTEL_SERVICE_NAME', value: 'vault' }],
    },
    operator: {
      replicas: 3,
      workers: 16,
      leaderElection: { leaseDuration: '30s', renewDeadline: '20s', retryPeriod: '5s' },
      logLevel: 'warn',
      topologySpreadConstraints: [
        {
          ...{ maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
          labelSelector: { matchLabels: { 'app.kubernetes.io/component': 'operator' } },
        },
      ],
      extraEnv: [{ name: 'OTEL_SERVICE_NAME', value: 'vault-operator' }],
    },
    reactors: {
      namespace: 'reactors',
      image: 'registry.example/tokenkeep:2',
      imagePullSecrets: ['registry'],
      metricsNamespaces: ['monitoring'],
    },
    internalTls: { mode: 'CertManager', certManager: { issuerRef: { name: 'platform', kind: 'ClusterIssuer' } } },
    networkPolicy: {
      apiFrom: [{ namespaceSelector: { matchLabels: { 'example.com/vault': 'yes' } } }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      egressPorts: { postgres: [6432], vault: [443, 8200] },
      extraApiEgress: [{ ports: [{ port: 9092, protocol: 'TCP' }] }],
    },
    metrics: {
      renderMode: 'alwaysRender',
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      reactorMonitor: { enabled: true, relabelings: [{ action: 'labeldrop', regex: 'pod' }] },
      prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
      dashboards: { enabled: true, annotations: { 'example.com/folder': 'Vault' } },
    },
    crds: { keep: false },
    rbac: { aggregateToEdit: true },
    revisionHistoryLimit: 1,
    commonLabels: { 'example.com/team': 'payments' },
    extraObjects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-map' }, data: { a: 'b' } },
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-text\n',
    ],
  },
  'pod-monitor': {
    ...NEEDED_VALUES,
    metrics: { renderMode: 'alwaysRender', podMonitor: { enabled: true } },
  },
} satisfies Record<string, ChartValues>;

export const VALUE_SET_NAMES = Object.keys(VALUE_SETS) as (keyof typeof VALUE_SETS)[];
