import { deepStrictEqual } from 'node:assert';
import { apply } from '../manifests/objects.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from '../manifests/restricted.ts';
import type { Stage, Step } from '../step.ts';
import { TEAM } from '../team.ts';

const CALLERS = ['collector', 'support', 'payments', 'admin'];
const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };

/** A workload with nothing but the Secrets that the operator wrote, and curl. */
export const callFromAPod: Step = {
  name: 'call the API from a pod',
  async run(stage) {
    const node = stage.get('node');
    await apply(node, [workload(stage.get('neighbours'))]);
    await node.demand(['wait', '--for=condition=Ready', '--timeout=60s', '-n', TEAM, 'pod/workload']);
    await callFromTheWorkload(stage);
    return 'tokenized, masked, revealed, detokenized, refused, reacted';
  },
};

/** Fails where any of the calls does, or is answered with something else than it should be. */
export async function callFromTheWorkload(stage: Stage): Promise<void> {
  const exec = ['exec', '-i', '-n', TEAM, 'workload', '--', 'sh', '-eus'];
  const answers = await stage.get('node').demand(exec, { input: CALLS });
  deepStrictEqual(JSON.parse(answers), {
    masked: 'XXXXXXXXXXXX4242',
    revealed: CARD.number,
    detokenized: CARD.number,
    refused: '403',
    raw: { brand: 'visa', last4: '4242' },
    receipt: 'Paid with visa ending in 4242',
  });
}

const CALLS = `
call() {
  as=$1 path=$2; shift 2
  curl -sS --max-time 30 --fail-with-body -H "SVC-API-KEY: $(cat "/keys/$as/api-key")" -H 'Content-Type: application/json' \\
    "$(cat "/keys/$as/base-url")$path" "$@"
}
id=$(call collector /tokens -d '${JSON.stringify({ type: 'card', data: CARD })}' | jq -r .id)
masked=$(call support "/tokens/$id" | jq -r .data.number)
revealed=$(call payments "/tokens/$id" | jq -r .data.number)
detokenized=$(call payments /detokenize -d "{\\"card\\":\\"{{ $id }}\\"}" | jq -r .card.number)
refused=$(call collector "/tokens/$id" -o /dev/null -w '%{http_code}' || true)
reactor=$(call admin /reactors | jq -r '.data[] | select(.name == "Card brand").id')
answer=$(call payments "/reactors/$reactor/react" -d "{\\"args\\":{\\"card\\":\\"{{ $id }}\\"}}")
receipt=$(call payments "/tokens/$(echo "$answer" | jq -r .tokens.receipt)" | jq -r .data)
jq -nc --arg masked "$masked" --arg revealed "$revealed" --arg detokenized "$detokenized" --arg refused "$refused" \\
  --arg receipt "$receipt" --argjson answer "$answer" \\
  '{masked: $masked, revealed: $revealed, detokenized: $detokenized, refused: $refused, raw: $answer.raw, receipt: $receipt}'
`;

function workload(image: string): object {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'workload', namespace: TEAM } },
    spec: {
      ...RESTRICTED_POD,
      containers: [
        {
          ...{ name: 'workload', image, ...RESTRICTED_CONTAINER },
          command: ['sleep', 'infinity'],
          volumeMounts: CALLERS.map((name) => ({ name, mountPath: `/keys/${name}`, readOnly: true })),
        },
      ],
      volumes: CALLERS.map((name) => ({ name, secret: { secretName: `${name}-api-key` } })),
    },
  };
}
