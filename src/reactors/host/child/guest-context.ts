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
  /** From now on the guest's calls go to `host`. */
  connect(host: HostFunction): void;
  /** Evaluates the code for the first time in this context and hands it to the harness. */
  begin(event: 'load' | 'start', id: string, payload: string, budget: CpuBudget): Promise<void>;
  /** Tells the guest of a timer or an answer; runs what follows from it. */
  enter(event: GuestEvent, id: string, payload: string, budget: CpuBudget): Promise<void>;
  /** Lets go of it: no code of this run is entered again. */
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
  const call = (...texts: unknown[]): string => {
    const [operation = '', ...rest] = texts.map((text) => (typeof text === 'string' ? text : ''));
    return host?.(operation, rest) ?? '';
  };
  const context = await isolate.createContext();
  const enter = await metered({ leftMs: FURNISH_MS }, async (timeout) => {
    const connect = await programs.guest.run(context, { timeout, reference: true });
    const options = { timeout, result: { reference: true } } as const;
    const entry = (await connect.apply(undefined, [new ivm.Callback(call)], options)) as ivm.Reference;
    connect.release();
    return entry;
  });
  return {
    connect(to) {
      host = to;
    },
    async begin(event, id, payload, budget) {
      await metered(budget, async (timeout) => {
        const code = await programs.code.run(context, { timeout, reference: true });
        await enter.apply(undefined, [event, id, payload, code.derefInto({ release: true })], { timeout });
      });
    },
    async enter(event, id, payload, budget) {
      await metered(budget, (timeout) => enter.apply(undefined, [event, id, payload], { timeout }));
    },
    close() {
      host = undefined;
      if (isolate.isDisposed) return;
      enter.release();
      context.release();
    },
  };
}
