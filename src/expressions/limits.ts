import type { Json } from '../domain/json.ts';
import { ComputingTime } from './computed-time.ts';
import { ExpressionFault } from './fault.ts';
import { RequestBudget } from './request-budget.ts';

/** Characters between one pair of braces. */
export const MAX_EXPRESSION_LENGTH = 10_000;
/** Characters of all expressions of one template together: bounds the time that parsing takes. */
export const MAX_TEMPLATE_EXPRESSIONS = 50_000;
/** Open brackets at a time in one expression: the Liquid parser recurses on them. */
export const MAX_BRACKET_DEPTH = 20;
/** Characters that one evaluated string may grow to, and one text that a filter makes. */
export const MAX_OUTPUT = 1024 * 1024;
/** Characters of the text that our own filters take, those that only encode it aside. */
export const MAX_FILTERED_TEXT = 250_000;
/** Characters that all strings of one template may have once they are evaluated. */
export const MAX_TEMPLATE_OUTPUT = 8 * MAX_OUTPUT;
/** Units of work that the evaluation of one template may take, on however fast a machine. */
export const MAX_TEMPLATE_WORK = 10_000_000;
/** Milliseconds that the evaluation of one template may compute; those in which the process waits are not counted. */
export const MAX_RENDER_MS = 50;

// Below this much work the time is not ours to have taken: the process collected garbage, and a good mask must not fail
// for that.
const WORK_WORTH_TIMING = 25_000;

// What even an empty expression costs, in characters.
const EXPRESSION_OVERHEAD = 10;

// Copying a template costs less than evaluating it.
const CHILDREN_PER_UNIT = 4;

/**
 * What the evaluation of one template may still use. Work is counted in characters and JSON nodes touched, which makes
 * most refusals the same on every machine; the clock catches what the count misjudges.
 */
export class Budget {
  readonly #time = new ComputingTime(MAX_RENDER_MS);
  readonly #request: RequestBudget;
  #work = 0;
  #output = 0;
  #read = 0;

  constructor(request = new RequestBudget()) {
    this.#request = request;
  }

  /** Charges an expression that is about to be parsed. */
  read(expression: string): void {
    this.#read += expression.length + EXPRESSION_OVERHEAD;
    if (this.#read > MAX_TEMPLATE_EXPRESSIONS) {
      throw new ExpressionFault(`must not have more than ${MAX_TEMPLATE_EXPRESSIONS} characters of expressions`);
    }
    this.spend(expression.length);
  }

  /** Charges work that is about to be done. Throws ExpressionFault once the evaluation has taken too much. */
  spend(units: number): void {
    this.#work += units;
    if (this.#work > MAX_TEMPLATE_WORK) throw new ExpressionFault('takes too much work to evaluate');
    if (this.#work > WORK_WORTH_TIMING && this.#time.isOver) {
      throw new ExpressionFault(`takes longer than ${MAX_RENDER_MS} ms to evaluate`);
    }
    this.#request.spend(units, this.#work);
  }

  /** Charges the elements or members of one array or object of the template itself. */
  walk(children: number): void {
    this.spend(Math.ceil(children / CHILDREN_PER_UNIT));
  }

  /** Charges text of the template that stays as it is. */
  copy(text: string): void {
    this.#give(text.length);
  }

  /** Charges what one expression gave. */
  emit(result: Json): void {
    const size = sizeOf(result, MAX_OUTPUT);
    this.#give(size);
    this.spend(size);
  }

  #give(size: number): void {
    this.#output += size;
    if (size > MAX_OUTPUT || this.#output > MAX_TEMPLATE_OUTPUT) throw new ExpressionFault('gives too large a result');
    this.#request.emit(size, this.#output);
  }
}

/**
 * About the length of a value's JSON text. Stops counting beyond `bound`, and does not recurse: a value may be nested
 * as deep as a request's size allows.
 */
export function sizeOf(value: Json, bound: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  let size = 0;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined && size <= bound; next = open.pop()) {
    size += typeof next === 'string' ? next.length + 3 : 2;
    if (typeof next !== 'object' || next === null) continue;
    // Counted before its children are queued, so that one huge array cannot outgrow the bound in memory.
    if (Array.isArray(next)) {
      if (next.length > bound) return bound + 1;
      for (const element of next) open.push(element);
    } else {
      for (const name in next) {
        size += name.length + 3;
        open.push(next[name]!);
      }
    }
  }
  return size;
}
