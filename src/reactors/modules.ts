/** What `require` has, in the order in which its own error lists it. */
export const MODULE_NAMES = [
  '@tokenkeep/errors',
  'axios',
  'buffer',
  'crypto',
  'events',
  'jsonpath',
  'node-fetch',
  'querystring',
  'url',
  'util',
  'uuid',
] as const;

export type ModuleName = (typeof MODULE_NAMES)[number];
