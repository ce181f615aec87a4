import { CHART, helm, RELEASE, releaseValues } from '../release.ts';
import type { Step } from '../step.ts';

export const installTheChart: Step = {
  name: 'install the chart',
  async run(stage) {
    const node = stage.get('node');
    await helm(stage, ['install', RELEASE.name, CHART, '--wait', '--timeout', '4m'], releaseValues(stage));
    await helm(stage, ['test', RELEASE.name, '--timeout', '1m']);
    const format = '--output=jsonpath={range .items[*]}{.metadata.name}: {.status.readyReplicas} {end}';
    return (await node.demand(['get', 'deployments', '-n', RELEASE.namespace, format])).trim();
  },
};
