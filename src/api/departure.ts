import type { ServerResponse } from 'node:http';

/** Aborted once nobody is there any more to take the answer. */
export function departureOf(response: ServerResponse): AbortSignal {
  const departure = new AbortController();
  if (response.destroyed) departure.abort();
  else {
    response.once('close', () => {
      // An answer that was taken leaves nobody waiting, and the reason of an abort has a stack trace, which costs.
      if (!response.writableFinished) departure.abort();
    });
  }
  return departure.signal;
}
