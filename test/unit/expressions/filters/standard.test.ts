import { gives, refuses } from './examples.ts';

describe('standard filters', () => {
  gives([
    ['upcase', null, ''],
    ["default: 'none'", null, 'none'],
    ['default: true, allow_false: true', false, false],
    ["split: '-' | last", '1-2-3', '3'],
    ["date: '%H:%M'", '2031-01-01T05:06:00Z', '05:06'],
    ["where: 'a.b', 1 | size", [{ a: { b: 1 } }, { a: { b: 2 } }], 1],
    ["map: 'constructor'", [{}], [null]],
  ]);
  refuses([
    ['divided_by: 0', 1, 'filter divided_by: gives no finite number'],
    ['append', 'a', 'filter append: cannot be applied to this value'],
    ['url_decode', '%E0%A4%A', 'filter url_decode: cannot be applied to this value'],
    ['upcase', 'a'.repeat(100_001), 'filter upcase: takes values of up to 100000 characters'],
    ['append: data', 'a'.repeat(2_001), 'filter append: takes arguments of up to 2000 characters'],
    ["where: 'a[b]'", [{}], 'filter where: takes a property name, or up to five with dots between'],
    ["map: 'a'", new Array<number>(2_001).fill(1), 'filter map: takes arrays of up to 2000 elements'],
    [`date: '${'%'.repeat(101)}'`, 0, 'filter date: takes formats of up to 100 characters'],
  ]);
});
