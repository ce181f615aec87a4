import { compileFunction } from 'node:vm';
import type { JsonObject } from '../../../src/domain/json.ts';

/** The code that every contestant runs: it looks at a card, adds an order up, and gives the order back. */
export const CODE = `
const brands = [
  [/^4/, 'visa'],
  [/^(5[1-5]|2[2-7])/, 'mastercard'],
  [/^3[47]/, 'american-express'],
  [/^6(011|5)/, 'discover'],
];

module.exports = async function ({ args }) {
  const { card, order, rounds } = args;
  const [, brand] = brands.find(([prefix]) => prefix.test(card.number)) ?? [null, 'unknown'];
  let total = 0;
  for (const { quantity, price } of order.lines) total += quantity * price;
  let mixed = 0;
  for (let round = 0; round < rounds; round += 1) mixed = (Math.imul(mixed, 1664525) + 1013904223) | 0;
  return { raw: { brand, last4: card.number.slice(-4), total, mixed, order } };
};
`;

/** What the code is asked to do. */
export interface Task {
  readonly name: string;
  readonly args: JsonObject;
  readonly concurrencies: readonly number[];
}

type ReactorFunction = (request: { args: JsonObject; configuration: JsonObject }) => Promise<{ raw: JsonObject }>;

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2035 };

/** About 100 bytes of JSON a line. */
function orderOf(lines: number): JsonObject {
  return {
    lines: Array.from({ length: lines }, (_, index) => ({
      sku: `A-${String(index).padStart(6, '0')}`,
      quantity: (index % 7) + 1,
      price: 199 + index,
      note: 'gift-wrapped, to be left with the neighbours',
    })),
  };
}

export const TASKS: readonly Task[] = [
  { name: '1 KB', args: { card: CARD, order: orderOf(10), rounds: 0 }, concurrencies: [1, 16] },
  { name: '100 KB', args: { card: CARD, order: orderOf(1_000), rounds: 0 }, concurrencies: [1, 16] },
  { name: '1 KB, a million steps', args: { card: CARD, order: orderOf(10), rounds: 1_000_000 }, concurrencies: [1] },
];

/** The function itself, in this process, with the just-in-time compiler. */
export function compileTask(): ReactorFunction {
  const module = { exports: undefined as unknown };
  compileFunction(CODE, ['module'])(module);
  return module.exports as ReactorFunction;
}

/** Throws unless an answer is the function's: whoever answers something else does another job. */
export function checkAnswer(answer: unknown, task: Task): void {
  const { raw } = answer as { raw?: { last4?: unknown; order?: { lines?: unknown[] } } };
  const lines = (task.args['order'] as { lines: unknown[] }).lines.length;
  if (raw?.last4 !== '4242' || raw.order?.lines?.length !== lines) {
    throw new Error(`not the answer of the function: ${JSON.stringify(answer).slice(0, 200)}`);
  }
}
