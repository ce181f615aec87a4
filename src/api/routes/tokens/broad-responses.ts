import type { ResponseDefinition } from '../../route.ts';

/** How searches, and lists by metadata, are refused. */
export const broadResponses: Readonly<Record<400 | 503, ResponseDefinition>> = {
  400: { description: 'It reads too many tokens to be answered in time; `detail` says how to make it narrower.' },
  503: { description: 'Too many searches and lists by metadata are under way.' },
};
