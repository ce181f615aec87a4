import { describeMissingModule } from './missing-module.ts';
import type { CheckOutcome, CodeFault } from '../types.ts';
import type { LoadVerdict } from './sandbox.ts';

const WHAT: Record<CodeFault, string> = {
  syntax: 'The code has a syntax error',
  'not-a-function': 'The code does not export a function: set module.exports to one',
  'top-level-error': 'The code throws an error while it is loaded',
  'timed-out': 'The code does not finish loading in time',
};

/** The verdict on code in words and numbers of ours: nothing of the code goes along but the name of a module. */
export function checkOutcomeOf(verdict: LoadVerdict): CheckOutcome {
  if (verdict.type === 'loaded') return { ok: true };
  if (verdict.type === 'breach') {
    const kind = verdict.reason === 'timed-out' ? 'timed-out' : 'top-level-error';
    return { ok: false, kind, message: `${WHAT[kind]} (${verdict.reason}).` };
  }
  const kind = Object.hasOwn(WHAT, verdict.fault) ? verdict.fault : 'top-level-error';
  const line = Number.isInteger(verdict.line) && verdict.line! > 0 ? verdict.line : undefined;
  const message =
    verdict.module === undefined
      ? `${WHAT[kind]}${line === undefined ? '' : ` (line ${line})`}.`
      : describeMissingModule(verdict.module, line);
  return { ok: false, kind, message, ...(line === undefined ? {} : { line }) };
}

/** Undefined for code that is loaded. */
export function verdictMessage(verdict: LoadVerdict): string | undefined {
  const outcome = checkOutcomeOf(verdict);
  return outcome.ok || outcome.kind === 'unavailable' ? undefined : outcome.message;
}
