import type { CardEnrichments } from './card-details.ts';
import type { Json } from './json.ts';
import type { Token } from './tokens.ts';

/** A token with its data as one caller may see it. */
export interface ShownToken {
  token: Omit<Token, 'data'>;
  /** `identity`: the caller may know that the token exists, and nothing that was put into it. */
  visibility: 'full' | 'identity';
  /** Masked or revealed; undefined: redacted. */
  data?: Json;
  enrichments?: CardEnrichments;
}
