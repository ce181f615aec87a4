import type { Logger } from '../platform/logger.ts';
import type { Clock } from './clock.ts';
import type { ReactorRuntime } from './runtimes/types.ts';
import type { ResourceSource } from './sources/types.ts';

export interface OperatorOptions {
  source: ResourceSource;
  runtime: ReactorRuntime;
  /** Where the internal API listens (`http://127.0.0.1:port`) and the bearer token that it takes. */
  internalApi: { baseUrl: string; token: string };
  /** What applications are told to call: the `base-url` entry of their Secret. */
  publicBaseUrl: string;
  logger: Logger;
  clock?: Clock;
}

export interface Operator {
  /** Resolves once the source is listed and reconciling has begun. */
  start(): Promise<void>;
  /** Resolves once every resource that was there at the start is reconciled, or refused, or waits for another. */
  readonly reconciled: Promise<void>;
  stop(): Promise<void>;
}

/** Builds the control plane: resources of `source` are declared to the API, reactors of the API run in `runtime`. */
export function createOperator(_options: OperatorOptions): Operator {
  throw new Error('not built yet');
}
