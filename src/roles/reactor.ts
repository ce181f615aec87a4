import type { Readable, Writable } from 'node:stream';
import { startSupervisor } from '../reactors/host/supervisor.ts';
import type { SupervisorLine, SupervisorStart } from '../domain/reactor-supervision.ts';

export interface ReactorRole {
  /** Lets invocations that run come to their end, then ends the process of the code. */
  stop(): Promise<void>;
  /** Settles when nothing is left to do and nothing is left running: the parent is gone, or the code cannot run. */
  finished: Promise<void>;
  /** The longest that `stop` takes, in ms. */
  readonly stopMs: number;
}

export interface ReactorRoleOptions {
  /** One JSON line, a SupervisorStart; its end means that the parent is gone. Default: standard input. */
  input?: Readable;
  /** One SupervisorLine each line. Default: standard output. */
  output?: Writable;
}

/** Invocations end by their own time limit well before this. */
const DRAIN_MS = 5 * 60_000;
const CLOSE_MS = 5_000;

/**
 * The supervisor of one reactor instance. What it runs comes by standard input alone, which stays open as long as the
 * parent lives: also a parent that was killed takes its instances along.
 */
export async function startReactor(options: ReactorRoleOptions = {}): Promise<ReactorRole> {
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stdout;
  const abandoned = Promise.withResolvers<void>();
  input.once('close', () => abandoned.resolve());
  input.once('end', () => abandoned.resolve());
  // Nobody reads any more: the parent is gone, and 'end' says so too.
  output.on('error', () => abandoned.resolve());

  const first = await firstLine(input);
  const supervisor =
    first === undefined
      ? undefined
      : await begin(JSON.parse(first) as SupervisorStart, (line) => output.write(`${JSON.stringify(line)}\n`));
  if (!supervisor) abandoned.resolve();
  // Of what is in flight, nobody waits for the answer any more.
  const finished = abandoned.promise.then(() => supervisor?.stop(0));
  const stop = (): Promise<void> => supervisor?.stop(DRAIN_MS) ?? Promise.resolve();
  return { stop, finished, stopMs: DRAIN_MS + CLOSE_MS };
}

function begin({ credential, ...task }: SupervisorStart, print: (line: SupervisorLine) => void) {
  return startSupervisor(task, { credential }, print);
}

/** Undefined when the stream ends before its first line does. */
function firstLine(input: Readable): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let text = '';
  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end >= 0) resolve(text.slice(0, end));
  });
  input.once('end', () => resolve(undefined));
  return promise;
}
