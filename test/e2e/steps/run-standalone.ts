import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { deepStrictEqual } from 'node:assert';
import { apply, restrictedNamespace } from '../manifests/objects.ts';
import { postgres } from '../manifests/postgres.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from '../manifests/restricted.ts';
import type { Stage, Step } from '../step.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples/', import.meta.url));
const NAMESPACE = 'standalone';
const READY_SECONDS = 90;

/** The image by itself, with nothing that our chart does: no shell, no root, a root file system that is read only. */
export const runStandalone: Step = {
  name: 'run the image in a pod',
  async run(stage) {
    const node = stage.get('node');
    const files = await Promise.all(
      (await readdir(SAMPLES)).map(async (name) => [name, await readFile(`${SAMPLES}${name}`, 'utf8')] as const),
    );
    await apply(node, [
      restrictedNamespace(NAMESPACE),
      ...postgres({ namespace: NAMESPACE, image: stage.get('neighbours'), password: 'of-a-test' }),
      { ...named('ConfigMap', 'v1', 'samples'), data: Object.fromEntries(files) },
      {
        ...named('Service', 'v1', 'tokenkeep'),
        spec: { selector: { app: 'tokenkeep' }, ports: [{ port: 80, targetPort: 8080 }] },
      },
      pod(stage),
    ]);
    await node.demand([
      'wait',
      '--for=condition=Ready',
      `--timeout=${READY_SECONDS}s`,
      '-n',
      NAMESPACE,
      'pod/tokenkeep',
    ]);

    const inCaller = (script: string): Promise<string> =>
      node.demand(['exec', '-n', NAMESPACE, 'tokenkeep', '-c', 'caller', '--', 'sh', '-ceu', script]);
    const answer = JSON.parse(await inCaller(CALLS)) as Record<string, unknown>;
    deepStrictEqual(answer, {
      ready: 200,
      masked: 'XXXXXXXXXXXX4242',
      raw: { brand: 'visa', last4: '4242' },
    });
    await node.demand(['delete', 'namespace', NAMESPACE, '--timeout=60s']);
    return 'tokenized, read and reacted to';
  },
};

/** By the Service's name; with the key that the vault has written beside its data. */
const CALLS = `
key() { cat "/data/secrets/default/$1-api-key/api-key"; }
call() {
  as=$1; shift
  curl -sS --max-time 30 --fail-with-body -H "SVC-API-KEY: $(key "$as")" -H 'Content-Type: application/json' "$@"
}
url=http://tokenkeep.${NAMESPACE}.svc.cluster.local
ready=$(curl -sS --max-time 30 -o /dev/null -w '%{http_code}' "$url/readyz")
id=$(call collector "$url/tokens" -d '{"type":"card","data":{"number":"4242424242424242","expiration_month":12,"expiration_year":2030}}' | jq -r .id)
masked=$(call support "$url/tokens/$id" | jq -r .data.number)
reactor=$(call admin "$url/reactors" | jq -r '.data[0].id')
raw=$(call payments "$url/reactors/$reactor/react" -d "{\\"args\\":{\\"card\\":\\"{{ $id }}\\"}}" | jq -c .raw)
jq -nc --arg masked "$masked" --argjson ready "$ready" --argjson raw "$raw" '{ready: $ready, masked: $masked, raw: $raw}'
`;

function named(kind: string, apiVersion: string, name: string) {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE } };
}

function pod(stage: Stage) {
  const database = `postgres://postgres:of-a-test@postgres.${NAMESPACE}.svc.cluster.local/vault`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'tokenkeep', namespace: NAMESPACE, labels: { app: 'tokenkeep' } },
    spec: {
      ...RESTRICTED_POD,
      containers: [
        {
          ...{ name: 'tokenkeep', image: stage.get('image'), ...RESTRICTED_CONTAINER },
          args: ['standalone', '--host=0.0.0.0', '--data-dir=/data', '--manifests=/samples', '--metrics-port=9090'],
          env: [{ name: 'TOKENKEEP_DATABASE_URL', value: database }],
          readinessProbe: { httpGet: { path: '/readyz', port: 8080 }, periodSeconds: 1 },
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'samples', mountPath: '/samples' },
          ],
        },
        {
          ...{ name: 'caller', image: stage.get('neighbours'), ...RESTRICTED_CONTAINER },
          command: ['sleep', 'infinity'],
          volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
        },
      ],
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'samples', configMap: { name: 'samples' } },
      ],
    },
  };
}
