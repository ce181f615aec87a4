import type { ReactorLog } from '../domain/reactor-supervision.ts';
import type { Logger } from '../platform/logger.ts';

/** Logs what the code of a reactor printed, as text of whose it is, never as a message of ours. */
export function logPrinted(logger: Logger, { level, message, ...origin }: ReactorLog): void {
  logger[level]({ ...origin, text: message }, 'Reactor printed');
}
