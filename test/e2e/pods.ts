import type { KubernetesNode } from './node/node.ts';

/** A pod, as far as the steps look at it. */
export interface Pod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** What it is one of: a component of the release, a reactor, the checker of code. */
  readonly group: string;
  /** Of the network. */
  readonly address: string;
  readonly image: string;
  readonly isReady: boolean;
  /** It is being deleted. */
  readonly isEnding: boolean;
  /** How often each of its containers has been started again. */
  readonly restarts: readonly number[];
}

interface PodList {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly namespace: string;
      readonly uid: string;
      readonly deletionTimestamp?: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
    readonly spec: { readonly containers: readonly { readonly image: string }[] };
    readonly status: {
      readonly podIP?: string;
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
      readonly containerStatuses?: readonly { readonly restartCount: number }[];
    };
  }[];
}

/** The first that a pod has tells its group. */
const GROUP_LABELS = ['app.kubernetes.io/component', 'tokenkeep.dev/reactor-id', 'app.kubernetes.io/name'];

/** All of a namespace, or those that a selector of labels names. */
export async function listPods(node: KubernetesNode, namespace: string, selector = ''): Promise<Pod[]> {
  const answer = await node.demand(['get', 'pods', '-n', namespace, `--selector=${selector}`, '--output=json']);
  return (JSON.parse(answer) as PodList).items.map(({ metadata, spec, status }) => {
    const { name, uid, deletionTimestamp, labels = {} } = metadata;
    return {
      ...{ name, namespace, uid },
      group: GROUP_LABELS.flatMap((label) => labels[label] ?? [])[0] ?? name,
      address: status.podIP ?? '',
      image: spec.containers[0]?.image ?? '',
      isReady: status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
      isEnding: deletionTimestamp !== undefined,
      restarts: (status.containerStatuses ?? []).map(({ restartCount }) => restartCount),
    };
  });
}
