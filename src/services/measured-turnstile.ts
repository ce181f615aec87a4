import type { DomainError } from '../domain/errors.ts';
import type { Metrics } from '../platform/metrics.ts';
import { Turnstile, type TurnstileLimits, type TurnstileState } from './turnstile.ts';

export interface MeasuredTurnstileOptions {
  readonly metrics: Metrics;
  /** Name and help of the gauge that tells how many are running and waiting. */
  readonly name: string;
  readonly help: string;
  /** How one is refused that cannot wait, or has waited too long. */
  readonly busy: () => DomainError;
}

/** A turnstile whose state is in the metrics, from the beginning on. */
export function createMeasuredTurnstile(
  limits: TurnstileLimits,
  { metrics, name, help, busy }: MeasuredTurnstileOptions,
): Turnstile {
  const gauge = metrics.gauge({ name, help, labels: ['state'] });
  const show = ({ running, waiting }: TurnstileState): void => {
    gauge.set({ state: 'running' }, running);
    gauge.set({ state: 'waiting' }, waiting);
  };
  const turnstile = new Turnstile(limits, { busy, onChange: show });
  show(turnstile.state);
  return turnstile;
}
