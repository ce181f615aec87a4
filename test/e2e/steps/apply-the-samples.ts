import { fileURLToPath } from 'node:url';
import { apply, restrictedNamespace } from '../manifests/objects.ts';
import type { Step } from '../step.ts';
import { TEAM } from '../team.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples/', import.meta.url));

export const applyTheSamples: Step = {
  name: 'apply the samples',
  async run(stage) {
    const node = stage.get('node');
    await apply(node, [restrictedNamespace(TEAM)]);
    await node.demand(['apply', '-n', TEAM, '-f', SAMPLES]);
    const wait = ['wait', '--for=condition=Ready', '--timeout=120s', '-n', TEAM, '--all'];
    for (const kind of ['tenants', 'applications', 'accessrules', 'reactors']) await node.demand([...wait, kind]);
    const names = await node.demand(['get', 'tokenkeep', '-n', TEAM, '--output=name']);
    return `${names.trim().split('\n').length} Ready`;
  },
};
