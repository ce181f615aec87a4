import { gives, refuses } from './examples.ts';

describe('stringify, to_string, to_number, to_boolean', () => {
  gives([
    ['stringify', 'text', 'text'],
    ['stringify', { b: 1, a: [null] }, '{"b":1,"a":[null]}'],
    ['stringify', null, null],
    ['to_string', 1.5, '1.5'],
    ['to_string', false, 'false'],
    ['to_string', null, null],
    ['to_number', ' -1.5e2 ', -150],
    ['to_number', 7, 7],
    ['to_number', null, null],
    ['to_boolean', ' True ', true],
    ['to_boolean', 0, false],
    ['to_boolean', false, false],
    ['to_boolean', null, null],
  ]);
  const number = 'filter to_number: takes text that is a number, up to 15 digits without loss';
  const boolean = 'filter to_boolean: takes true, false, 1 or 0';
  refuses([
    ['to_number', 'abc', number],
    ['to_number', '', number],
    ['to_number', '0x10', number],
    ['to_number', '4242424242424242424', number],
    ['to_number', '1e400', number],
    ['to_number', true, number],
    ['to_number', [1], number],
    ['to_boolean', 'yes', boolean],
    ['to_boolean', 2, boolean],
    ['to_boolean', {}, boolean],
  ]);
});
