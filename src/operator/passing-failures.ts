import { KubernetesError } from '../platform/kubernetes/errors.ts';

/**
 * Tells the failures of a Kubernetes API that pass by themselves from those that a person has to know of: a resource
 * whose status told of each would be not ready now and then, and have deployments that wait for it fail.
 */
export interface PassingFailures {
  /** Takes in a failure of a resource. Whether it may pass, as far as is known by now. */
  note(key: string, error: unknown): boolean;
  /** The row of failures of a resource has ended. */
  forget(key: string): void;
}

const MOST_IN_A_ROW = 2;

export function createPassingFailures(): PassingFailures {
  const inARow = new Map<string, number>();
  return {
    note(key, error) {
      if (isConflict(error)) return true;
      if (!(error instanceof KubernetesError)) return false;
      const count = (inARow.get(key) ?? 0) + 1;
      inARow.set(key, count);
      return count <= MOST_IN_A_ROW;
    },
    forget: (key) => void inARow.delete(key),
  };
}

/** Whether another writer came in between: what it wrote is read at the next attempt. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 409;
}
