/** Why there is no usable answer. */
export type NoAnswer =
  /** The connection broke, or none came about. */
  | 'Disconnected'
  /** Not within the deadline. */
  | 'TimedOut'
  /** Not what the API would say: no JSON, no event. */
  | 'Malformed'
  /** More than this client takes. */
  | 'TooLarge'
  /** The kubeconfig gives no credentials that work, such as a token file that is not there. */
  | 'NotSignedIn'
  /** This client was closed, or its caller broke the request off. */
  | 'BrokenOff';

export interface KubernetesFailure {
  method: string;
  /** Without its query. */
  path: string;
  /** HTTP status, or the code of an ERROR event of a watch. */
  status?: number;
  /** As in the API's Status object, or why there is no answer. */
  reason?: string;
  detail?: string;
  retryAfterMs?: number;
  cause?: unknown;
}

/** The Kubernetes API refused, or could not be asked. The message never holds anything of a body. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  /** Logged without its stack. */
  readonly kind = 'kubernetes';
  /** HTTP status, or the code of an ERROR event of a watch; undefined where no answer came. */
  readonly status: number | undefined;
  /** As in the API's Status object (`Conflict`, `AlreadyExists`, `Expired`); a `NoAnswer` where no answer came. */
  readonly reason: string | undefined;
  /** The API's own words. May quote values of the refused object: not to be shown or logged for a Secret. */
  readonly detail: string | undefined;
  /** How long the API asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor({ method, path, status, reason, detail, retryAfterMs, cause }: KubernetesFailure) {
    const outcome = [status ?? 'no answer', reason].filter((part) => part !== undefined).join(' ');
    super(`${method} ${path}: ${outcome}`, cause === undefined ? {} : { cause });
    this.status = status;
    this.reason = reason;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The failure of a request to which no usable answer came. */
export function noAnswer(method: string, path: string, reason: NoAnswer, cause?: unknown): KubernetesError {
  return new KubernetesError({ method, path, reason, cause });
}
