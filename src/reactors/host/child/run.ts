import type { ChildLimits, FromChild, Settled } from '../../protocol.ts';
import { Breach } from './entries.ts';
import type { CpuBudget } from './entries.ts';
import type { GuestContext } from './guest-context.ts';
import { compute } from './host-calls.ts';

export interface RunOptions {
  id: number;
  context: GuestContext;
  limits: ChildLimits;
  send: (message: FromChild) => void;
  /** Called once, when the run has ended and its context is closed. */
  ended: () => void;
}

/** Bounds the message, in characters; longer than any name that the supervisor passes on. */
const MAX_REPORTED_NAME = 200;

/** Code may require a name of any length, also the empty one. */
export function reportedModule(name: string | undefined): { module?: string } {
  return name === undefined ? {} : { module: name.slice(0, MAX_REPORTED_NAME) };
}

/** One invocation inside the child: its timers, its calls to `svc` and its end. */
export class Run {
  readonly #options: RunOptions;
  readonly #budget: CpuBudget;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #calls = new Set<string>();
  #settled = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#budget = { leftMs: options.limits.cpuMs };
    options.context.connect((operation, texts) => this.#onGuestCall(operation, texts));
  }

  start(request: string, withSvc: boolean): void {
    this.#follow(this.#options.context.begin('start', withSvc ? 'svc' : '', request, this.#budget));
  }

  answer(call: string, payload: string): void {
    if (this.#settled || !this.#calls.delete(call)) return;
    this.#follow(this.#options.context.enter('answer', call, payload, this.#budget));
  }

  /** A stretch of guest code that fails did not end by itself: the harness lets no error of the code through. */
  #follow(stretch: Promise<void>): void {
    stretch.catch((error: unknown) => {
      this.#settle({ type: 'breach', reason: error instanceof Breach ? error.reason : 'crashed' });
    });
  }

  #settle(settled: Settled): string {
    if (this.#settled) return '';
    this.#settled = true;
    const { id, context, send, ended } = this.#options;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    send({ id, ...settled });
    // Not from inside the guest's own call.
    setImmediate(() => {
      context.close();
      ended();
    });
    return '';
  }

  #onGuestCall(operation: string, texts: string[]): string {
    if (this.#settled) return '';
    const [first = '', second = '', third] = texts;
    switch (operation) {
      case 'returned': {
        const fits = Buffer.byteLength(first) + Buffer.byteLength(second) <= this.#options.limits.resultBytes;
        return this.#settle(fits ? { type: 'returned', raw: first, tokenize: second } : { type: 'too-large' });
      }
      case 'classed':
      case 'custom': {
        if (Buffer.byteLength(first) > this.#options.limits.resultBytes) return this.#settle({ type: 'too-large' });
        return this.#settle(
          operation === 'classed' ? { type: 'classed', error: first } : { type: 'custom', response: first },
        );
      }
      case 'threw':
        return this.#settle({
          type: 'threw',
          name: first.slice(0, 20),
          line: Number(second),
          ...reportedModule(third),
        });
      case 'invalid':
        return this.#settle({ type: 'invalid' });
      case 'svc':
        return this.#callSvc(first, second, third ?? '');
      case 'timer':
        return this.#setTimer(first, Number(second), third === 'repeat');
      case 'clear-timer':
        clearTimeout(this.#timers.get(first));
        this.#timers.delete(first);
        return '';
      default:
        return compute(operation, texts) ?? '';
    }
  }

  #callSvc(call: string, operation: string, payload: string): string {
    const { id, limits, send } = this.#options;
    if (this.#calls.size >= limits.svcCalls) return `At most ${limits.svcCalls} calls may be outstanding`;
    if (Buffer.byteLength(payload) > limits.resultBytes) return 'The payload of the call is too large';
    this.#calls.add(call);
    send({ type: 'svc', id, call, operation, payload });
    return '';
  }

  #setTimer(timer: string, ms: number, repeat: boolean): string {
    if (this.#timers.size >= this.#options.limits.timers) return 'too many';
    const fire = (): void => {
      if (repeat) this.#timers.get(timer)?.refresh();
      else this.#timers.delete(timer);
      this.#follow(this.#options.context.enter('timer', timer, '', this.#budget));
    };
    this.#timers.set(timer, setTimeout(fire, ms));
    return '';
  }
}
