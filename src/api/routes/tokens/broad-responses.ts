import type { ResponseDefinition } from '../../route.ts';

/** How searches and lists are refused. */
export const broadResponses: Readonly<Record<400 | 503, ResponseDefinition>> = {
  400: { description: 'It reads too many tokens to be answered in time; `detail` says how to make it narrower.' },
  503: {
    description: `Too many searches and lists by metadata, or pages of large tokens, are under way, so that the turn of this
one did not come in time; nothing is wrong with it, and it may succeed later. Or Postgres or key management cannot be
reached.`,
  },
};
