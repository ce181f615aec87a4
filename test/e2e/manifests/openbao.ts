import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './restricted.ts';

export interface OpenBaoOptions {
  readonly namespace: string;
  readonly image: string;
  /** PEM, for `openbao.<namespace>.svc`. */
  readonly tls: { readonly certificate: string; readonly key: string; readonly authority: string };
  /** 32 bytes, with which it unseals itself. */
  readonly sealKey: Buffer;
  /** By name. */
  readonly policies: Readonly<Record<string, string>>;
}

const CONFIGURATION = `
disable_mlock = true
ui = false
api_addr = "https://127.0.0.1:8200"
cluster_addr = "https://127.0.0.1:8201"
storage "raft" {
  path = "/data"
  node_id = "openbao"
  performance_multiplier = 1
}
listener "tcp" {
  address = "0.0.0.0:8200"
  tls_cert_file = "/secrets/tls.crt"
  tls_key_file = "/secrets/tls.key"
}
seal "static" {
  current_key_id = "1"
  current_key = "file:///secrets/seal-key"
}
`;

/** OpenBao by TLS, not yet initialized, as `openbao.<namespace>`. It may ask Kubernetes whose a token is. */
export function openBao({ namespace, image, tls, sealKey, policies }: OpenBaoOptions): object[] {
  const metadata = { name: 'openbao', namespace };
  const labels = { app: 'openbao' };
  const files = {
    ...{ 'tls.crt': tls.certificate, 'tls.key': tls.key, 'ca.crt': tls.authority, 'server.hcl': CONFIGURATION },
    ...Object.fromEntries(Object.entries(policies).map(([name, text]) => [`${name}.hcl`, text])),
  };
  return [
    {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata },
      data: { 'seal-key': sealKey.toString('base64') },
      stringData: files,
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'openbao' } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector: labels, ports: [{ port: 8200 }] },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
      spec: {
        serviceName: 'openbao',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...RESTRICTED_POD,
            ...{ serviceAccountName: 'openbao', automountServiceAccountToken: true },
            containers: [
              {
                ...{ name: 'openbao', image, ...RESTRICTED_CONTAINER },
                command: ['bao', 'server', '-config=/secrets/server.hcl'],
                env: [
                  { name: 'BAO_ADDR', value: `https://openbao.${namespace}.svc:8200` },
                  { name: 'BAO_CACERT', value: '/secrets/ca.crt' },
                  // Where its command keeps what it remembers.
                  { name: 'HOME', value: '/tmp' },
                ],
                readinessProbe: { tcpSocket: { port: 8200 }, periodSeconds: 1 },
                volumeMounts: [
                  { name: 'data', mountPath: '/data' },
                  { name: 'tmp', mountPath: '/tmp' },
                  { name: 'secrets', mountPath: '/secrets', readOnly: true },
                ],
              },
            ],
            volumes: [
              { name: 'data', emptyDir: {} },
              { name: 'tmp', emptyDir: { medium: 'Memory' } },
              { name: 'secrets', secret: { secretName: 'openbao' } },
            ],
          },
        },
      },
    },
  ];
}
