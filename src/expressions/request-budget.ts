import { ExpressionFault } from './fault.ts';

/** Milliseconds that the evaluation of all templates of one request may take together. */
export const MAX_REQUEST_MS = 200;

// As for one template: below this much work, a missed deadline is the machine's.
const WORK_WORTH_TIMING = 100_000;

/**
 * What all templates of one request may use together: each is short, but a page of a hundred masks is not. The clock
 * runs from the construction on, so one is made right before a run of evaluations that waits for nothing.
 */
export class RequestBudget {
  readonly #deadline: number;
  #work = 0;

  constructor(milliseconds = MAX_REQUEST_MS) {
    this.#deadline = performance.now() + milliseconds;
  }

  /** Charges work of any of the templates. Throws ExpressionFault once they have taken too much together. */
  spend(units: number): void {
    this.#work += units;
    if (this.#work > WORK_WORTH_TIMING && performance.now() > this.#deadline) {
      throw new ExpressionFault('takes longer to evaluate than one request may, its other expressions included');
    }
  }
}
