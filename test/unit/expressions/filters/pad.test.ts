import { gives, refuses } from './examples.ts';

describe('pad_left, pad_right', () => {
  gives([
    ["pad_left: 6, '0'", '1234', '001234'],
    ["pad_left: 2, '0'", '1234', '1234'],
    ['pad_right: 6', '1234', '1234  '],
    ["pad_left: 4, '0'", 7, '0007'],
    ["pad_left: 4, '0'", null, null],
  ]);
  refuses([
    ["pad_left: 1048577, '0'", '1', 'filter pad_left: length must be a whole number from 0 to 1048576'],
    ["pad_right: 5, '00'", '1', 'filter pad_right: char must be one character'],
  ]);
});
