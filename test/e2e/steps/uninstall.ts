import { deepStrictEqual } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { helm, REACTOR_NAMESPACE, RELEASE } from '../release.ts';
import type { Step } from '../step.ts';
import { TEAM } from '../team.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples/', import.meta.url));
/** Of the release's namespace: what the step before it put there for the chart. */
const OURS = ['secret/database-api', 'secret/database-owner', 'secret/database-sweeper', 'secret/vault-authority'];
/** Kubernetes' own. */
const ITS_OWN = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];
const KINDS = 'all,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,leases,pdb,pvc,hpa,ingress';
const CLUSTER_KINDS = 'clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations';

export const uninstall: Step = {
  name: 'delete the declarations and uninstall',
  async run(stage) {
    const node = stage.get('node');
    await node.demand(['delete', 'reactors,accessrules,applications', '--all', '-n', TEAM, '--timeout=90s']);
    await node.demand(['delete', '-n', TEAM, '-f', SAMPLES, '--ignore-not-found', '--timeout=60s']);
    const namesIn = async (namespace: string): Promise<string[]> => {
      const names = await node.demand(['get', KINDS, '-n', namespace, '--output=name']);
      return names
        .split('\n')
        .filter((name) => name !== '' && !ITS_OWN.includes(name))
        .sort();
    };
    await eventually(async () => deepStrictEqual(await namesIn(TEAM), ['pod/workload']), { deadlineMs: 90_000 });
    await helm(stage, ['uninstall', RELEASE.name, '--wait', '--timeout', '2m']);
    await eventually(async () => deepStrictEqual(await namesIn(RELEASE.namespace), OURS), {
      ...{ deadlineMs: 200_000, everyMs: 500 },
    });
    const label = `app.kubernetes.io/instance=${RELEASE.name}`;
    deepStrictEqual(await node.demand(['get', CLUSTER_KINDS, '-l', label, '--output=name']), '');
    await node.demand(['wait', '--for=delete', '--timeout=60s', `namespace/${REACTOR_NAMESPACE}`]);
    // As `crds.keep` says.
    const definitions = await node.demand(['api-resources', '--api-group=tokenkeep.dev', '--output=name']);
    return `kept: ${definitions.trim().split('\n').sort().join(', ')}`;
  },
};
