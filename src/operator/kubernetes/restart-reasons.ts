import { KubernetesError } from '../../platform/kubernetes/errors.ts';

/** Why a watch was begun again, or a list: few enough to be values of a metric's label. */
export type RestartReason =
  /** 410: the API server no longer knows the version to go on from. */
  | 'expired'
  /** 401: a token that has expired, or that is no longer known. */
  | 'unauthorized'
  /** 403. */
  | 'forbidden'
  /** 404: the kind is not served, as before its definition is installed. */
  | 'not-found'
  /** 429. */
  | 'throttled'
  | 'server-error'
  /** Any other refusal. */
  | 'refused'
  /** The connection broke, or none came about. */
  | 'disconnected'
  | 'timed-out'
  /** Nothing ended the watch when its time was up. */
  | 'silent'
  /** The watch ended at once, as if it had run its time. */
  | 'cut-short'
  /** No JSON, no event, or an event from before the version that was asked for. */
  | 'malformed';

/** A watch failed in a way that only its reader can tell. */
export class WatchFault extends Error {
  readonly reason: RestartReason;

  constructor(reason: RestartReason) {
    super(`the watch is ${reason}`);
    this.reason = reason;
  }
}

const OF_STATUS: Readonly<Record<number, RestartReason>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  410: 'expired',
  429: 'throttled',
};

const OF_NO_ANSWER: Readonly<Record<string, RestartReason>> = {
  Malformed: 'malformed',
  TooLarge: 'malformed',
  TimedOut: 'timed-out',
  NotSignedIn: 'unauthorized',
};

export function restartReasonOf(error: unknown): RestartReason {
  if (error instanceof WatchFault) return error.reason;
  if (!(error instanceof KubernetesError)) return 'malformed';
  const { status, reason = '' } = error;
  if (status === undefined) return OF_NO_ANSWER[reason] ?? 'disconnected';
  return OF_STATUS[status] ?? (status >= 500 ? 'server-error' : 'refused');
}
