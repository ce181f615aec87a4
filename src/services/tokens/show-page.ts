import { isWhole, type ListedToken } from '../../data/listed-tokens.ts';
import type { Transform } from '../../domain/access.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import type { Token } from '../../domain/tokens.ts';
import { RequestBudget } from '../../expressions/request-budget.ts';
import type { PageParts } from './large-pages.ts';
import { openInSlices } from './open-in-slices.ts';
import { showToken } from './show.ts';

/**
 * A page of one tenant's tokens, each as `transformOf` has it and left out where it gives none. Where it has large
 * tokens, throws 'unavailable' as `LargePages` does.
 */
export async function showPage(
  parts: PageParts,
  listed: readonly ListedToken[],
  transformOf: (token: Token) => Transform | undefined,
  signal?: AbortSignal,
): Promise<ShownToken[]> {
  const budget = new RequestBudget();
  const show = (token: Token): ShownToken | undefined => {
    const transform = transformOf(token);
    return transform && showToken(token, transform, budget);
  };
  const open = () => openInSlices(parts, listed, show);
  const [first] = listed;
  if (first === undefined || listed.every(isWhole)) return open();
  return parts.largePages.run(first.tenantId, open, signal);
}
