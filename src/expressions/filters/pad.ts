import { defineTextFilter } from './filter.ts';
import { character, count } from './parameters.ts';

// Without the bound on `length`, one short expression could ask for a gigabyte.
export const pad_left = defineTextFilter([count('length'), character('char', ' ')], (text, [length, char]) =>
  text.padStart(length, char),
);

export const pad_right = defineTextFilter([count('length'), character('char', ' ')], (text, [length, char]) =>
  text.padEnd(length, char),
);
