import { STATUS_CODES } from 'node:http';
import type { DomainError, ErrorKind, Violations } from '../domain/errors.ts';

/** An error as it is answered (RFC 9457); `errors` maps property paths to messages. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The trace id of the request. */
  instance?: string;
  errors?: Violations;
}

/** The media type of problems. */
export const PROBLEM_TYPE = 'application/problem+json';

const PROBLEMS = {
  invalid: { status: 400, title: 'One or more validation errors occurred.' },
  unauthenticated: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  'not-found': { status: 404, title: 'Not Found' },
  'method-not-allowed': { status: 405, title: 'Method Not Allowed' },
  conflict: { status: 409, title: 'Conflict' },
  gone: { status: 410, title: 'Gone' },
  'too-large': { status: 413, title: 'Content Too Large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported Media Type' },
  unprocessable: { status: 422, title: 'Unprocessable Content' },
  'rate-limited': { status: 429, title: 'Too Many Requests' },
  'not-implemented': { status: 501, title: 'Not Implemented' },
  'bad-gateway': { status: 502, title: 'Bad Gateway' },
  unavailable: { status: 503, title: 'Service Unavailable' },
  timeout: { status: 504, title: 'Gateway Timeout' },
} as const satisfies Record<ErrorKind, { status: number; title: string }>;

/** The one place that turns a failure into a status. */
export function problemOf(error: DomainError, traceId: string): Problem {
  const { status, title } = PROBLEMS[error.kind];
  return {
    type: 'about:blank',
    title,
    status,
    detail: error.message,
    instance: traceId,
    ...(error.violations === undefined ? {} : { errors: error.violations }),
  };
}

/** The title of problems with this status. */
export function problemTitle(status: number): string {
  const known = Object.values(PROBLEMS).find((problem) => problem.status === status);
  return known?.title ?? STATUS_CODES[status] ?? 'Error';
}

/** The headers that a failure with this status has to have, whoever fails with it. */
export function problemHeaders(status: number, challenge = 'ApiKey'): Readonly<Record<string, string>> {
  if (status === 401) return { 'WWW-Authenticate': challenge };
  return status === 429 || status === 503 ? { 'Retry-After': '1' } : {};
}

/** What is answered for a failure that nobody foresaw: nothing of it is shown, the log has it under the trace id. */
export function unforeseenProblem(traceId: string): Problem {
  return {
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    detail: 'The request failed for a reason that is not yours. The log has it under this trace id.',
    instance: traceId,
  };
}
