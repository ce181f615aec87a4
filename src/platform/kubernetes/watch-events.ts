import { KubernetesError, noAnswer } from './errors.ts';
import { LineTooLong, linesOf } from './event-stream.ts';
import type { OpenedStream } from './event-stream.ts';
import { readStatus } from './status.ts';

export interface WatchEvent<T> {
  /** A BOOKMARK's object holds its kind and `metadata.resourceVersion` only. */
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

/** The events of a stream. Returns where it ends, or where `signal` aborts. */
export async function* watchEvents<T>(
  path: string,
  open: () => Promise<OpenedStream>,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  let opened: OpenedStream | undefined;
  try {
    opened = await open();
    for await (const line of linesOf(opened.body)) yield parseEvent<T>(path, line);
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof KubernetesError ? error : broken(path, error);
  } finally {
    opened?.body.destroy();
  }
}

function broken(path: string, error: unknown): KubernetesError {
  if (error instanceof LineTooLong) return noAnswer('WATCH', path, 'TooLarge');
  // Without its cause: the parser quotes what it could not read.
  if (error instanceof SyntaxError) return noAnswer('WATCH', path, 'Malformed');
  return noAnswer('WATCH', path, 'Disconnected', error);
}

const TYPES: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'];

function parseEvent<T>(path: string, line: string): WatchEvent<T> {
  const event = JSON.parse(line) as { type?: unknown; object?: unknown };
  if (typeof event?.object !== 'object' || event.object === null) throw noAnswer('WATCH', path, 'Malformed');
  if (event.type === 'ERROR') throw new KubernetesError({ method: 'WATCH', path, ...readStatus(event.object) });
  if (!TYPES.includes(event.type)) throw noAnswer('WATCH', path, 'Malformed');
  return event as WatchEvent<T>;
}
