import { gives, refuses } from './examples.ts';

const order = {
  items: [
    { sku: 'a', n: 1 },
    { sku: 'b', n: 2 },
  ],
  regex: 'b.*',
};

describe('json', () => {
  gives([
    ["json: '$.items[1].n'", order, 2],
    ["json: '$.items[-1]'", order, { sku: 'b', n: 2 }],
    ["json: '$.none'", order, null],
    ["json: '$.items[?match(@.sku, $.regex)].n'", order, 2],
    ["json: '$.items[?@.n > 1].sku'", order, 'b'],
    ["json: '$'", null, null],
    ["json: '$.constructor'", order, null],
    ["json: '$'", 'text', 'text'],
  ]);
  refuses([
    ["json: '$.items[*].n'", order, 'filter json: the path must select one value, and selects several'],
    ["json: 'items'", order, 'filter json: path must be a JSONPath query (RFC 9535)'],
    ["json: '$.items[?nope(@)]'", order, 'filter json: path must be a JSONPath query (RFC 9535)'],
    ['json: 1', order, 'filter json: path must be a JSONPath query'],
    ['json', order, 'filter json: needs the argument path'],
    [`json: '$.${'a'.repeat(1_000)}'`, order, 'filter json: path must not be longer than 1000 characters'],
  ]);
});
