/** What a kubelet tells of a container, as far as the control plane and the operator look at it. */
export interface ContainerReport {
  readonly image: string;
  readonly isReady: boolean;
  readonly restarts: number;
  readonly state: 'running' | { readonly waiting: string; readonly message?: string };
  readonly lastEnd?: ContainerEnd | undefined;
}

export interface ContainerEnd {
  /** 128 and the signal's number where a signal ended it. */
  readonly exitCode: number;
  /** What it wrote to its termination log. */
  readonly message: string;
  readonly at: string;
}

/** `status` of a pod of one container that runs on a node. */
export function podStatus(podIP: string | undefined, startedAt: string, report: ContainerReport): object {
  const { image, isReady, restarts, state, lastEnd } = report;
  const ready = isReady ? 'True' : 'False';
  const condition = (type: string, status: string) => ({ type, status, lastTransitionTime: startedAt });
  const ended = lastEnd && {
    terminated: {
      exitCode: lastEnd.exitCode,
      reason: lastEnd.exitCode === 0 ? 'Completed' : 'Error',
      message: lastEnd.message,
      finishedAt: lastEnd.at,
    },
  };
  return {
    phase: state === 'running' || restarts > 0 ? 'Running' : 'Pending',
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: startedAt,
    conditions: [
      condition('PodScheduled', 'True'),
      condition('Initialized', 'True'),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    containerStatuses: [
      {
        ...{ name: 'reactor', image, imageID: image, ready: isReady, started: state === 'running' },
        restartCount: restarts,
        state:
          state === 'running'
            ? { running: { startedAt } }
            : { waiting: { reason: state.waiting, ...(state.message ? { message: state.message } : {}) } },
        lastState: ended ?? {},
      },
    ],
  };
}
