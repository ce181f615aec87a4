import { randomInt } from 'node:crypto';
import { createAliasFilters } from './alias.ts';
import { base64_url_safe_decode, base64_url_safe_encode } from './base64-url.ts';
import { card_bin, card_exp, card_mask } from './card.ts';
import { stringify, to_boolean, to_number, to_string } from './cast.ts';
import { hmac, to_base16, to_base64 } from './digest.ts';
import type { Filter } from './filter.ts';
import { json } from './json.ts';
import { pad_left, pad_right } from './pad.ts';
import { last4, reveal, reveal_last } from './reveal.ts';

/** Our filters by their names in expressions; a Map, so that no name reaches a prototype. */
export const ownFilters: ReadonlyMap<string, Filter> = new Map(
  Object.entries({
    reveal,
    reveal_last,
    last4,
    stringify,
    to_string,
    to_number,
    to_boolean,
    json,
    card_bin,
    card_mask,
    card_exp,
    pad_left,
    pad_right,
    ...createAliasFilters((bound) => randomInt(bound)),
    hmac,
    to_base64,
    to_base16,
    base64_url_safe_encode,
    base64_url_safe_decode,
  }),
);
