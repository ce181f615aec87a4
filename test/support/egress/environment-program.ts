import { once } from 'node:events';
import { get } from 'node:http';
import { egressRules } from '../../../src/domain/egress.ts';
import { createEgressClient } from '../../../src/platform/egress/client.ts';

/** Calls `http://good.test:<port>/`: as Node does by itself, or as our client does. */
const [, , how, port] = process.argv;
if (how === 'node') {
  await once(get(`http://good.test:${port}/`), 'response');
} else {
  const client = createEgressClient({
    rules: egressRules({ allow: [`good.test:${port}`] }),
    resolve: async () => ['127.0.0.2'],
    allowAddress: () => true,
  });
  await client.request({
    method: 'GET',
    url: `http://good.test:${port}/`,
    headers: [],
    timeoutMs: 5_000,
    redirect: 'follow',
  });
}
process.exit(0);
