import ivm from 'isolated-vm';
import type { GuestEvent } from '../../guest/types.ts';
import type { CpuBudget, Metered } from './entries.ts';

/** Compiled once, run in every context. */
export interface Programs {
  guest: ivm.Script;
  code: ivm.Script;
}

/** Answers the guest's calls: at once, with a text, without throwing. */
export type HostFunction = (operation: string, texts: string[]) => string;

/** A context for one run of the code. */
export interface GuestContext {
  /**
   * From now on the guest's calls go to `host`. `onOverrun` is called at most once, when a stretch is over its time with
   * what has been computed for it: the isolate's own timer stands still meanwhile. It goes on, until the process ends.
   */
  connect(host: HostFunction, onOverrun: () => void): void;
  /** Whether a stretch of this run is under way: not one that waits for another run's to end. */
  readonly isEntered: boolean;
  /** Evaluates the code for the first time in this context and hands it to the harness. */
  begin(event: 'load' | 'start', id: string, payload: string, budget: CpuBudget): Promise<void>;
  /** Tells the guest of a timer or an answer; runs what follows from it. */
  enter(event: GuestEvent, id: string, payload: string, budget: CpuBudget): Promise<void>;
  /** No code of this run is entered again; what is under way goes on. */
  shut(): void;
  /** Lets go of it; nothing of it may be under way. */
  close(): void;
}

/** Furnishing a context costs no more than this, and no code of the reactor takes part in it. */
const FURNISH_MS = 5_000;

/**
 * Furnishes a fresh context that the code has not touched yet. Only strings go through its walls: the one callback
 * inside is held by the harness, and the references that it is entered by never leave this function.
 */
export async function openGuestContext(
  isolate: ivm.Isolate,
  programs: Programs,
  metered: Metered,
): Promise<GuestContext> {
  let host: HostFunction | undefined;
  let overran: (() => void) | undefined;
  let isShut = false;
  let isEntered = false;
  let spending: CpuBudget | undefined;
  let endBy = Infinity;
  const call = (...texts: unknown[]): string => {
    const [operation = '', ...rest] = texts.map((text) => (typeof text === 'string' ? text : ''));
    // The isolate waits meanwhile and is charged nothing: what we compute for the code is the code's time.
    const begun = performance.now();
    const answer = host?.(operation, rest) ?? '';
    const now = performance.now();
    if (spending) spending.leftMs -= now - begun;
    if (now <= endBy) return answer;
    host = undefined;
    overran?.();
    overran = undefined;
    return '';
  };
  const context = await isolate.createContext();
  const enter = await metered({ leftMs: FURNISH_MS }, async (timeout) => {
    const connect = await programs.guest.run(context, { timeout, reference: true });
    const options = { timeout, result: { reference: true } } as const;
    const entry = (await connect.apply(undefined, [new ivm.Callback(call)], options)) as ivm.Reference;
    connect.release();
    return entry;
  });
  const stretch = (budget: CpuBudget, run: (timeout: number) => Promise<unknown>): Promise<void> =>
    metered(budget, async (timeout) => {
      if (isShut) return;
      spending = budget;
      endBy = performance.now() + timeout;
      isEntered = true;
      try {
        await run(timeout);
      } finally {
        isEntered = false;
      }
    });
  return {
    connect(to, onOverrun) {
      host = to;
      overran = onOverrun;
    },
    get isEntered() {
      return isEntered;
    },
    begin: (event, id, payload, budget) =>
      stretch(budget, async (timeout) => {
        const code = await programs.code.run(context, { timeout, reference: true });
        await enter.apply(undefined, [event, id, payload, code.derefInto({ release: true })], { timeout });
      }),
    enter: (event, id, payload, budget) =>
      stretch(budget, (timeout) => enter.apply(undefined, [event, id, payload], { timeout })),
    shut() {
      isShut = true;
    },
    close() {
      isShut = true;
      host = undefined;
      if (isolate.isDisposed) return;
      enter.release();
      context.release();
    },
  };
}
