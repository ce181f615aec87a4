import { ComputingTime } from './computed-time.ts';
import { ExpressionFault } from './fault.ts';

/** Milliseconds that the evaluation of all templates of one request may compute together, as for one template. */
export const MAX_REQUEST_MS = 60;
/** Characters that all strings of the templates of one request may have once they are evaluated. */
export const MAX_REQUEST_OUTPUT = 8 * 1024 * 1024;

// As for one template: below this much work, a missed deadline is the machine's.
const WORK_WORTH_TIMING = 100_000;

// What a template may use even though others have used up the rest, in units of work or characters, and what all such
// templates may: a page of masks shows the ordinary ones, whatever stands beside them.
const SMALL_TEMPLATE = 2_000;
const SMALL_TEMPLATES = 200_000;

/**
 * What all templates of one request may use together: each is short, but a page of a hundred masks is not. Counted is
 * what is computed while they are evaluated: what the request waits for, the database above all, is not theirs, and
 * neither is what a busy machine does meanwhile.
 */
export class RequestBudget {
  readonly #milliseconds: number;
  /** Milliseconds of the evaluations that have ended. */
  #ended = 0;
  /** What those before have left to the evaluation under way. */
  #underWay: ComputingTime | undefined;
  #work = 0;
  #lateWork = 0;
  #output = 0;

  constructor(milliseconds = MAX_REQUEST_MS) {
    this.#milliseconds = milliseconds;
  }

  /** What `evaluate`, which waits for nothing, gives; what it computes counts. */
  time<Result>(evaluate: () => Result): Result {
    const time = new ComputingTime(this.#milliseconds - this.#ended);
    this.#underWay = time;
    try {
      return evaluate();
    } finally {
      this.#ended += time.usedMs;
      this.#underWay = undefined;
    }
  }

  get #isOverTime(): boolean {
    return this.#underWay === undefined ? this.#ended >= this.#milliseconds : this.#underWay.isOver;
  }

  /** Units that have been charged. */
  get work(): number {
    return this.#work;
  }

  /**
   * Charges work of one of the templates, which has done `ofTemplate` in all. Throws ExpressionFault once they have
   * taken too much together.
   */
  spend(units: number, ofTemplate: number): void {
    this.#work += units;
    if (this.#work <= WORK_WORTH_TIMING) return;
    if (!this.#isOverTime) return;
    if (ofTemplate <= SMALL_TEMPLATE) this.#lateWork += units;
    if (ofTemplate > SMALL_TEMPLATE || this.#lateWork > SMALL_TEMPLATES) {
      throw new ExpressionFault('takes longer to evaluate than one request may, its other expressions included');
    }
  }

  /** Charges characters of output of one of the templates, which has given `ofTemplate` in all. */
  emit(characters: number, ofTemplate: number): void {
    this.#output += characters;
    if (this.#output > MAX_REQUEST_OUTPUT && ofTemplate > SMALL_TEMPLATE) {
      throw new ExpressionFault('gives more output than one request may, its other expressions included');
    }
  }
}
