import { POSTGRES_USER_ID } from '../images/neighbours.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './restricted.ts';

export interface PostgresOptions {
  readonly namespace: string;
  readonly image: string;
  readonly password: string;
  /** Run once, before it is reachable. */
  readonly sql?: string;
}

/** Postgres with the database `vault`, as `postgres.<namespace>`. What is stored goes with the pod. */
export function postgres({ namespace, image, password, sql = '' }: PostgresOptions): object[] {
  const metadata = { name: 'postgres', namespace };
  const labels = { app: 'postgres' };
  return [
    {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata },
      stringData: { password, 'users.sql': sql },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector: labels, ports: [{ port: 5432 }] },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
      spec: {
        serviceName: 'postgres',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...RESTRICTED_POD,
            securityContext: {
              ...RESTRICTED_POD.securityContext,
              ...{ runAsUser: POSTGRES_USER_ID, runAsGroup: POSTGRES_USER_ID, fsGroup: POSTGRES_USER_ID },
            },
            containers: [
              {
                ...{ name: 'postgres', image, ...RESTRICTED_CONTAINER },
                args: ['postgres', '-c', 'max_connections=200'],
                env: [
                  { name: 'POSTGRES_DB', value: 'vault' },
                  { name: 'POSTGRES_PASSWORD', valueFrom: { secretKeyRef: { name: 'postgres', key: 'password' } } },
                  { name: 'PGDATA', value: '/var/lib/postgresql/data/pgdata' },
                ],
                // By TCP, which it does not listen on while it is being made.
                readinessProbe: { tcpSocket: { port: 5432 }, periodSeconds: 1 },
                volumeMounts: [
                  { name: 'data', mountPath: '/var/lib/postgresql/data' },
                  { name: 'run', mountPath: '/var/run/postgresql' },
                  { name: 'tmp', mountPath: '/tmp' },
                  { name: 'sql', mountPath: '/docker-entrypoint-initdb.d', readOnly: true },
                ],
              },
            ],
            volumes: [
              { name: 'data', emptyDir: {} },
              { name: 'run', emptyDir: {} },
              { name: 'tmp', emptyDir: { medium: 'Memory' } },
              { name: 'sql', secret: { secretName: 'postgres', items: [{ key: 'users.sql', path: 'users.sql' }] } },
            ],
          },
        },
      },
    },
  ];
}
