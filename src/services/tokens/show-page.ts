import { isWhole, type ListedToken } from '../../data/listed-tokens.ts';
import type { AccessSubject, Transform } from '../../domain/access.ts';
import type { LogEntry, LogOperation } from '../../domain/logs.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import type { Token } from '../../domain/tokens.ts';
import { RequestBudget } from '../../expressions/request-budget.ts';
import { refusedAsDamaged } from '../damage.ts';
import { type Actor, tokenLogEntry } from '../log-entries.ts';
import type { PageParts } from './large-pages.ts';
import { openInSlices } from './open-in-slices.ts';
import { showDamaged, showToken } from './show.ts';

/**
 * A page of one tenant's tokens, each as `transformOf` has it and left out where it gives none. One that is damaged is
 * on it, and shown as that: left out, nobody would miss it, and failing for it would hide all others for good. Where it
 * has large tokens, throws 'unavailable' as `LargePages` does.
 */
export async function showPage(
  parts: PageParts,
  listed: readonly ListedToken[],
  transformOf: (token: AccessSubject) => Transform | undefined,
  signal?: AbortSignal,
): Promise<ShownToken[]> {
  const budget = new RequestBudget();
  const show = (token: Token): ShownToken | undefined => {
    const transform = transformOf(token);
    return transform && showToken(token, transform, budget);
  };
  const open = () => openInSlices(parts, listed, show, (row) => transformOf(row) && showDamaged(row));
  const [first] = listed;
  if (first === undefined || listed.every(isWhole)) return open();
  return parts.largePages.run(first.tenantId, open, signal);
}

/** The entries of a page for the audit log, one for each token that was looked up for it. */
export function pageLogEntries(
  actor: Actor,
  operation: LogOperation,
  listed: readonly ListedToken[],
  shown: readonly ShownToken[],
): LogEntry[] {
  const broken = new Set(shown.filter(({ visibility }) => visibility === 'damaged').map(({ token }) => token.id));
  return listed.map((token) => {
    const entry = tokenLogEntry(actor, operation, token);
    return broken.has(token.id) ? refusedAsDamaged(entry) : entry;
  });
}
