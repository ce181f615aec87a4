import { defineTextFilter } from './filter.ts';
import { character, characters, count } from './parameters.ts';

/** Masks all but the last characters; hyphens stay, so that the shape can be recognized. */
export const reveal_last = defineTextFilter([count('n'), character('mask_char', 'X')], (text, [n, mask]) => {
  const all = [...text];
  return all.map((one, index) => (one === '-' || index >= all.length - n ? one : mask)).join('');
});

/** Masks all but the first and last characters. What would hide nothing is masked whole. */
export const reveal = defineTextFilter(
  [count('first', 0), count('last', 0), character('mask_char', 'X'), characters('preserve_chars', '')],
  (text, [first, last, mask, preserved]) => {
    const all = [...text];
    const kept = new Set(preserved);
    const masked = all
      .map((one, index) => (index < first || index >= all.length - last || kept.has(one) ? one : mask))
      .join('');
    return all.length <= first + last || masked === text ? mask.repeat(all.length) : masked;
  },
);

export const last4 = defineTextFilter([], (text) => [...text].slice(-4).join(''));
