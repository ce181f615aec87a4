import { deepStrictEqual, match, ok } from 'node:assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomCardNumber } from '../../support/canary.ts';
import { allowApi } from '../backing.ts';
import type { CommandResult } from '../node/machine.ts';
import type { Step } from '../step.ts';
import { TEAM } from '../team.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const AS_PAYMENTS = ['--application', 'payments', '-n', TEAM];

/** Connections to pods and commands in them, by a kubelet and a containerd. */
export const useThePlugin: Step = {
  name: 'use kubectl tokenkeep',
  async run(stage) {
    const node = stage.get('node');
    const { machine, adminKubeconfig } = node;
    const plugin = (args: readonly string[], input = ''): Promise<CommandResult> =>
      machine.run(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'kubectl', ...args], {
        ...{ input, env: { KUBECONFIG: adminKubeconfig, HOME: stage.folder } },
      });
    const demand = async (args: readonly string[], input?: string): Promise<string> => {
      const { code, stdout, stderr } = await plugin(args, input);
      if (code !== 0) throw new Error(`kubectl tokenkeep ${args.join(' ')}: ${stderr.trim()}`);
      return stdout;
    };

    match(await demand(['status', '-n', TEAM]), /application\.tokenkeep\.dev\/payments/);
    const number = randomCardNumber();
    const tokenized = await demand(['tokenize', ...AS_PAYMENTS], JSON.stringify({ number }));
    const { number: token } = JSON.parse(tokenized) as { number: string };
    ok(token !== number);
    deepStrictEqual(await demand(['detokenize', token, ...AS_PAYMENTS]), `${number}\n`);
    const invoked = await demand(['reactor', 'invoke', 'card-brand', ...AS_PAYMENTS], '{"card":"4242424242424242"}');
    match(invoked, /"brand": "visa"/);
    match(await demand(['reactor', 'logs', 'card-brand', '-n', TEAM]), /Instance listens/);
    match(await demand(['keys', 'status']), /^tokens +v1/m);
    // With the login of the API, which is to do no more than serve.
    const refused = await plugin(['keys', 'rotate']);
    deepStrictEqual([refused.code, refused.stdout], [1, '']);
    await allowApi(node, ['tokenkeep-api', 'tokenkeep-keys', 'tokenkeep-audit']);
    match(await demand(['keys', 'rotate']), /is at v2$/m);
    match(await demand(['keys', 'rewrap']), /^[1-9]\d* data keys rewrapped under v2$/m);
    match(await demand(['audit', 'verify']), /^Nothing was altered, removed, added or reordered\.$/m);
    await allowApi(node, ['tokenkeep-api']);
    match(await demand(['keys', 'status']), /^tokens +v2/m);
    deepStrictEqual(await demand(['detokenize', token, ...AS_PAYMENTS]), `${number}\n`);
    const file = join(stage.folder, 'report.tar.gz');
    const listed = await demand(['report', '-n', TEAM, '--file', file]);
    match(listed, /^metrics\/tokenkeep-api-\S+\.txt/m);
    return `a report of ${listed.trim().split('\n').length - 1} files`;
  },
};
