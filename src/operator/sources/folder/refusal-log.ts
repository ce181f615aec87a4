import type { RefusedDocument } from '../../../domain/resource-status.ts';
import type { Logger } from '../../../platform/logger.ts';

/** Writes a line for each document that is newly refused, or for other reasons than before, and when all are mended. */
export function createRefusalLog(logger: Logger): (refused: readonly RefusedDocument[]) => void {
  let known = new Set<string>();
  return (refused) => {
    const now = new Set(refused.map((document) => JSON.stringify(document)));
    for (const document of refused) {
      if (known.has(JSON.stringify(document))) continue;
      const { file, line, subject, reasons } = document;
      const rendered = reasons.map((reason) => `${reason.line}: ${reason.path} ${reason.message}`.replace(':  ', ': '));
      logger.warn({ file, line, resource: subject, reasons: rendered }, 'Refused a document');
    }
    if (known.size > 0 && now.size === 0) logger.info({}, 'Accepted every document again');
    known = now;
  };
}
