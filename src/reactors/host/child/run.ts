import type { ChildLimits, FromChild, Settled } from '../../protocol.ts';
import { Breach, Uncaught } from './entries.ts';
import type { CpuBudget } from './entries.ts';
import type { GuestContext } from './guest-context.ts';
import { compute } from './host-calls.ts';

export interface RunOptions {
  id: number;
  context: GuestContext;
  limits: ChildLimits;
  send: (message: FromChild) => void;
  /** What the outstanding calls of all runs have sent, in bytes. */
  outstanding: { bytes: number };
  /** Called once, when the run has ended and its context is closed; awaited before the supervisor is told. */
  ended: (settled: Settled) => Promise<void>;
}

/** Bounds the message, in characters; longer than any name that the supervisor passes on. */
const MAX_REPORTED_NAME = 200;

/** A body travels as base64, with its headers beside it. */
const FETCH_OVERHEAD = 1.5;

/** Code may require a name of any length, also the empty one. */
export function reportedModule(name: string | undefined): { module?: string } {
  return name === undefined ? {} : { module: name.slice(0, MAX_REPORTED_NAME) };
}

/** One invocation inside the child: its timers, its calls to the supervisor and its end. */
export class Run {
  readonly #options: RunOptions;
  readonly #budget: CpuBudget;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Those that wait for an answer, each with the bytes that it has sent. */
  readonly #calls = new Map<string, number>();
  readonly #printed = { lines: 0, bytes: 0, omitted: 0 };
  /** How it ends, once the stretch has ended in which it said so. */
  #settled: Settled | undefined;
  #isOver = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#budget = { leftMs: options.limits.cpuMs };
    options.context.connect(
      (operation, texts) => this.#onGuestCall(operation, texts),
      () => this.#overrun(),
    );
  }

  start(request: string, withSvc: boolean): void {
    this.#follow(this.#options.context.begin('start', withSvc ? 'svc' : '', request, this.#budget));
  }

  answer(call: string, payload: string): void {
    if (this.#settled || !this.#forget(call)) return;
    this.#follow(this.#options.context.enter('answer', call, payload, this.#budget));
  }

  /** Its time is over. What it is in the middle of may end first; nothing of it runs any more then. */
  stop(): void {
    this.#settle({ type: 'stopped' });
    if (!this.#options.context.isEntered) void this.#end(this.#settled!);
  }

  /** Told at once, and not once the stretch has ended: only the end of the process ends it. */
  #overrun(): void {
    this.#settle({ type: 'breach', reason: 'timed-out' });
    this.#isOver = true;
    this.#options.send({ type: 'breach', id: this.#options.id, reason: 'timed-out' });
  }

  /**
   * The harness answers for what the code itself throws; what nobody awaits comes this way. An answer counts once its
   * stretch has ended: code that goes on after it would do so in the time of the next request.
   */
  #follow(stretch: Promise<void>): void {
    void stretch
      .catch((error: unknown) => {
        if (error instanceof Breach) this.#settle({ type: 'breach', reason: error.reason });
        else if (error instanceof Uncaught) this.#settle({ type: 'threw', name: error.name, line: error.line });
        else this.#settle({ type: 'breach', reason: 'crashed' });
      })
      .then(() => {
        if (this.#settled) return this.#end(this.#settled);
      });
  }

  #settle(settled: Settled): string {
    // A breach outweighs the answer that came before it.
    if (!this.#settled || settled.type === 'breach') this.#settled = settled;
    this.#options.context.shut();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    return '';
  }

  async #end(settled: Settled): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { id, context, send, ended } = this.#options;
    context.close();
    await ended(settled);
    if (this.#printed.omitted > 0) send({ type: 'omitted', id, lines: this.#printed.omitted });
    send({ id, ...settled });
    // The supervisor lets go of them as it reads that.
    for (const call of this.#calls.keys()) this.#forget(call);
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
      case 'call':
        return this.#call(first, second, third ?? '');
      case 'cancel':
        if (this.#forget(first)) this.#options.send({ type: 'cancel', id: this.#options.id, call: first });
        return '';
      case 'log':
        return this.#print(first, second);
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

  #call(call: string, operation: string, payload: string): string {
    const { id, limits, send, outstanding } = this.#options;
    if (this.#calls.size >= limits.calls) return `At most ${limits.calls} calls may be outstanding`;
    const maxBytes = operation === 'fetch' ? limits.resultBytes * FETCH_OVERHEAD : limits.resultBytes;
    const bytes = Buffer.byteLength(payload);
    if (bytes > maxBytes) return 'The payload of the call is too large';
    if (outstanding.bytes + bytes > limits.callBytes) return 'The payloads of outstanding calls are too large together';
    outstanding.bytes += bytes;
    this.#calls.set(call, bytes);
    send({ type: 'call', id, call, operation, payload });
    return '';
  }

  /** False for a call that does not wait for an answer. */
  #forget(call: string): boolean {
    this.#options.outstanding.bytes -= this.#calls.get(call) ?? 0;
    return this.#calls.delete(call);
  }

  #print(level: string, text: string): string {
    const { id, limits, send } = this.#options;
    const shown = text.slice(0, limits.log.lineBytes + 1);
    const bytes = Buffer.byteLength(shown);
    const printed = this.#printed;
    if (printed.lines < limits.log.lines && printed.bytes + bytes <= limits.log.totalBytes) {
      printed.lines += 1;
      printed.bytes += bytes;
      send({ type: 'log', id, level, text: shown });
    } else {
      printed.omitted += 1;
      // Now and then, as a run that is cut short does not come to tell the whole number.
      if (Number.isInteger(Math.log2(printed.omitted))) send({ type: 'omitted', id, lines: printed.omitted });
    }
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
