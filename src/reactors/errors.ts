import type { FailureKind } from './types.ts';

interface Presentation {
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
}

/** What a caller is told about an invocation that failed by itself. */
export const FAILURES = {
  'timed-out': { status: 504, title: 'The reactor did not finish in time.' },
  crashed: { status: 502, title: 'The reactor stopped unexpectedly.' },
  'out-of-memory': { status: 502, title: 'The reactor ran out of memory.' },
  'invalid-result': { status: 500, title: 'The reactor returned something that is not a valid result.' },
  'result-too-large': {
    status: 500,
    title: 'The reactor returned something that is not a valid result.',
    detail: 'The result is larger than 1 MB.',
  },
  unavailable: { status: 503, title: 'No instance of the reactor is available.' },
} as const satisfies Record<FailureKind, Presentation>;

/** The error classes of `@tokenkeep/errors`, with what an uncaught one answers. */
export const ERROR_CLASSES = {
  AuthenticationError: { status: 401, title: 'Authentication failed in the reactor.' },
  AuthorizationError: { status: 403, title: 'The reactor was refused authorization.' },
  BadRequestError: { status: 400, title: 'The reactor refused the request.' },
  InvalidPaymentMethodError: { status: 402, title: 'The reactor refused the payment method.' },
  InvalidReactorConfigurationError: { status: 400, title: 'The configuration of the reactor is invalid.' },
  RateLimitError: { status: 429, title: 'The reactor was rate limited.' },
  ReactorRuntimeError: { status: 500, title: 'The reactor failed.' },
  ServiceUnavailableError: { status: 503, title: 'A service that the reactor needs is unavailable.' },
} as const satisfies Record<string, Presentation>;

export type ErrorClass = keyof typeof ERROR_CLASSES;

/** What a thrown value that is none of the classes answers: never its message, which may hold plaintext. */
export const UNCLASSED = { status: 500, title: 'The reactor threw an error.' } as const satisfies Presentation;

export function isErrorClass(name: string): name is ErrorClass {
  return Object.hasOwn(ERROR_CLASSES, name);
}

/** The class under which an API error is thrown inside a reactor. */
export function errorClassOf(status: number): ErrorClass {
  switch (status) {
    case 401:
      return 'AuthenticationError';
    case 402:
      return 'InvalidPaymentMethodError';
    case 403:
      return 'AuthorizationError';
    case 429:
      return 'RateLimitError';
    case 502:
    case 503:
    case 504:
      return 'ServiceUnavailableError';
    default:
      return status >= 400 && status < 500 ? 'BadRequestError' : 'ReactorRuntimeError';
  }
}
