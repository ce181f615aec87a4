import type { ServerResponse } from 'node:http';

/** Aborted once nobody is there any more to take the answer. */
export function departureOf(response: ServerResponse): AbortSignal {
  const departure = new AbortController();
  if (response.destroyed) departure.abort();
  // Of an answer that was taken, too, after which nothing waits for the signal.
  else response.once('close', () => departure.abort());
  return departure.signal;
}
