import { deepStrictEqual } from 'node:assert';
import { eventually } from '../../support/eventually.ts';
import { assertUnharmed, remarkOf, startLoad } from '../load/load.ts';
import { apply } from '../manifests/objects.ts';
import { REACTOR_NAMESPACE } from '../release.ts';
import type { Step } from '../step.ts';
import { TEAM } from '../team.ts';
import { idOf, unhurriedReactor } from './scale-a-reactor.ts';

const DEADLINE = { deadlineMs: 150_000, everyMs: 500 };

/** Callers go on calling while instances of the new code take over from those of the old one. */
export const changeTheCode: Step = {
  name: "change a reactor's code under load",
  async run(stage) {
    const node = stage.get('node');
    const reactorId = await idOf(node);
    /** Which code answers. */
    const answering = async (): Promise<number> => {
      const answer = await node.demand(['exec', '-i', '-n', TEAM, 'workload', '--', 'sh', '-eus', reactorId], {
        input: CALL,
      });
      return (JSON.parse(answer) as { raw: { revision: number } }).raw.revision;
    };
    /** Of the pods that are there. */
    const revisions = async (): Promise<string[]> => {
      const selected = ['get', 'pods', '-n', REACTOR_NAMESPACE, '-l', `tokenkeep.dev/reactor-id=${reactorId}`];
      const label = '--output=jsonpath={.items[*].metadata.labels.tokenkeep\\.dev/revision}';
      const found = (await node.demand([...selected, label])).split(' ');
      return [...new Set(found.filter((revision) => revision !== ''))];
    };

    using load = await startLoad(stage, { reactorId, callers: 2 });
    deepStrictEqual(await answering(), 1);
    const before = await revisions();
    deepStrictEqual(before.length, 1);
    await apply(node, [unhurriedReactor(2)]);
    await eventually(async () => deepStrictEqual(await answering(), 2), DEADLINE);
    await eventually(async () => {
      const now = await revisions();
      deepStrictEqual([now.length, before.includes(now[0]!)], [1, false]);
    }, DEADLINE);
    const report = await load.stop();
    assertUnharmed(report);
    deepStrictEqual(await answering(), 2);
    return remarkOf(report);
  },
};

const CALL = `curl -sS --max-time 30 --fail-with-body -H "SVC-API-KEY: $(cat /keys/payments/api-key)" \\
  -H 'Content-Type: application/json' "$(cat /keys/payments/base-url)/reactors/$1/react" -d '{"args":{}}'`;
