import { join } from 'node:path';
import { startNode } from '../node/node.ts';
import { installNodePrograms } from '../node/programs.ts';
import type { Step } from '../step.ts';

export const startTheNode: Step = {
  name: 'start the node',
  async run(stage) {
    const { images, folder } = stage;
    const name = stage.get('pauseImage');
    const archive = join(folder, 'pause.tar');
    await images.archive(name, archive);
    const node = await startNode({ folder, programs: await installNodePrograms(), pauseImage: { name, archive } });
    stage.set('node', node);
    const version = '--output=jsonpath={.items[0].status.nodeInfo.kubeletVersion}';
    return `Kubernetes ${await node.demand(['get', 'nodes', version])}`;
  },
};
