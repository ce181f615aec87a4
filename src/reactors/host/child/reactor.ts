import ivm from 'isolated-vm';
import type { ChildLimits, FromChild, Settled } from '../../protocol.ts';
import type { CodeFault } from '../../types.ts';
import { Breach, createMeter } from './entries.ts';
import type { GuestContext, HostFunction } from './guest-context.ts';
import { openGuestContext } from './guest-context.ts';
import { hasHeadroom } from './headroom.ts';
import { compute } from './host-calls.ts';
import { reportedModule, Run } from './run.ts';

export interface ReactorOptions {
  guest: string;
  code: string;
  limits: ChildLimits;
  send: (message: FromChild) => void;
}

const FILE_NAME = 'reactor.js';
const WRAPPER = ['(function (module, exports, require) {', '\n})'] as const;

/** The code of one reactor in one isolate, compiled once, with a context ready for the next invocation. */
export interface LoadedReactor {
  invoke(id: number, request: string, withSvc: boolean): Promise<void>;
  answer(id: number, call: string, payload: string): void;
  /** Ends a run whose time is over; one that has ended is none. */
  stop(id: number): void;
}

/** Compiles the code and evaluates its top level once, away from any request. Undefined after it was refused. */
export async function loadReactor({ guest, code, limits, send }: ReactorOptions): Promise<LoadedReactor | undefined> {
  // Nothing can be kept alive after a catastrophic error inside V8; a core dump would hold plaintext.
  const isolate = new ivm.Isolate({ memoryLimit: limits.heapMb, onCatastrophicError: () => process.abort() });
  const metered = createMeter(isolate, Math.max(limits.sliceMs, limits.loadMs));
  const guestScript = await isolate.compileScript(guest, { filename: 'tokenkeep:guest' });
  let codeScript: ivm.Script;
  try {
    codeScript = await isolate.compileScript(WRAPPER.join(code), {
      filename: FILE_NAME,
      columnOffset: -WRAPPER[0].length,
    });
  } catch (error) {
    send({ type: 'refused', fault: 'syntax', ...lineOf(error, code) });
    return undefined;
  }
  const open = () => openGuestContext(isolate, { guest: guestScript, code: codeScript }, metered);
  if (!(await tryTopLevel(await open(), limits, send))) return undefined;

  const runs = new Map<number, Run>();
  /** Those that wait for a context. */
  const coming = new Set<number>();
  const outstanding = { bytes: 0 };
  const sliced = createMeter(isolate, limits.sliceMs);
  const openSliced = () => openGuestContext(isolate, { guest: guestScript, code: codeScript }, sliced);
  let spare = openSliced();
  spare.catch(() => undefined);
  return {
    async invoke(id, request, withSvc) {
      coming.add(id);
      // Taken before anything is awaited: two invocations that come at once must never meet in one context.
      const begun = spare.then((context) => {
        if (!coming.delete(id)) return context.close();
        const ended = async ({ type }: Settled): Promise<void> => {
          runs.delete(id);
          // Others would have to be waited for; the last one looks for all of them.
          if (runs.size > 0) return;
          if (!(await hasHeadroom(isolate, limits.heapMb, type === 'stopped'))) send({ type: 'worn' });
        };
        const run = new Run({ id, context, limits, send, outstanding, ended });
        runs.set(id, run);
        run.start(request, withSvc);
      });
      // Behind the run's first stretch, so that making the next context does not hold it up.
      spare = begun.then(openSliced, openSliced);
      spare.catch(() => undefined);
      try {
        await begun;
      } catch (error) {
        coming.delete(id);
        send({ type: 'breach', id, reason: error instanceof Breach ? error.reason : 'crashed' });
      }
    },
    answer(id, call, payload) {
      runs.get(id)?.answer(call, payload);
    },
    stop(id) {
      if (coming.delete(id)) send({ type: 'stopped', id });
      else runs.get(id)?.stop();
    },
  };
}

/** Whether the top level runs through and leaves a function; tells the supervisor either way. */
async function tryTopLevel(context: GuestContext, limits: ChildLimits, send: ReactorOptions['send']): Promise<boolean> {
  let verdict: FromChild = { type: 'refused', fault: 'timed-out' };
  const host: HostFunction = (operation, texts) => {
    if (operation === 'loaded') verdict = { type: 'loaded' };
    else if (operation === 'refused') {
      const [fault, line, module] = texts as [CodeFault, string, string?];
      verdict = { type: 'refused', fault, line: Number(line), ...reportedModule(module) };
    } else return compute(operation, texts) ?? '';
    return '';
  };
  // The supervisor ends the process of code that is refused.
  context.connect(host, () => send({ type: 'refused', fault: 'timed-out' }));
  try {
    await context.begin('load', '', '', { leftMs: limits.loadMs });
  } catch (error) {
    const timedOut = error instanceof Breach && error.reason === 'timed-out';
    verdict = { type: 'refused', fault: timedOut ? 'timed-out' : 'top-level-error' };
  }
  context.close();
  send(verdict);
  return (verdict as FromChild).type === 'loaded';
}

/** isolated-vm puts the place of a syntax error at the end of its message: `[reactor.js:3:7]`. */
function lineOf(error: unknown, code: string): { line?: number } {
  const place = new RegExp(`${FILE_NAME}:(\\d+)`).exec(error instanceof Error ? `${error.message}${error.stack}` : '');
  // Code that stops short fails in the wrapper's last line, which its author does not know of.
  return place ? { line: Math.min(Number(place[1]), code.split('\n').length) } : {};
}
