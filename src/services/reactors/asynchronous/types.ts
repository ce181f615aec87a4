import type { Database } from '../../../data/database.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Json } from '../../../domain/json.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { ReactOutcome, ReactParts, TokenSurface } from '../react.ts';
import type { WebhookSecrets } from '../../webhook-secrets.ts';
import type { CallbackHosts } from './callback-url.ts';
import type { InvocationVault } from './vault.ts';

/** What the caller of an invocation would have been answered, had it waited. */
export interface InvocationAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  contentType?: string;
  body?: Json | object;
}

/** How tokens, outcomes and refusals look to callers, which is the API's. */
export interface InvocationSurface extends TokenSurface {
  present(outcome: ReactOutcome, traceId: string): InvocationAnswer;
  refuse(error: DomainError, traceId: string): InvocationAnswer;
}

/** The status and headers of what a receiver answered; rejects with an EgressError where it did not. */
export type PostCallback = (request: CallbackRequest) => Promise<CallbackResponse>;

export interface CallbackRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Breaks it off. */
  signal: AbortSignal;
}

export interface CallbackResponse {
  status: number;
  retryAfter: string | undefined;
}

export interface AsynchronousParts {
  readonly database: Database;
  /** Of the sweeper: finds what is due, of whatever tenant. */
  readonly maintenance: Database;
  readonly vault: InvocationVault;
  readonly invocation: ReactParts;
  readonly surface: InvocationSurface;
  readonly secrets: WebhookSecrets;
  readonly hosts: CallbackHosts;
  readonly post: PostCallback;
  readonly clock: Clock;
  readonly logger: Logger;
}
