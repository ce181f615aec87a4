import type { CardEnrichments } from './card-details.ts';
import type { Json } from './json.ts';
import type { Token } from './tokens.ts';

/** A token with its data as one caller may see it. */
export interface ShownToken {
  token: Omit<Token, 'data'>;
  /**
   * `outline`: nothing that was put into the token (data, mask, metadata, expressions). `damaged`: no more either, for
   * what is stored of it was refused. `identity`: no more than that the token exists.
   */
  visibility: 'full' | 'outline' | 'damaged' | 'identity';
  /** Masked or revealed; undefined: redacted. */
  data?: Json;
  /** Whether `data` is the plaintext. */
  revealed?: true;
  enrichments?: CardEnrichments;
}
