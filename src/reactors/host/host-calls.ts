/** One call of the guest's, as long as it waits for the answer. */
export interface CallUnderWay {
  /** Ends with the run, and when the guest does not wait any more: nothing is sent or awaited after it. */
  signal: AbortSignal;
  /** To be asked before so many more bytes of an answer are kept; false where the supervisor has no room for them. */
  hold: (bytes: number) => boolean;
}

/**
 * Answers a call of the guest's with the JSON text that its client takes: `svc:<operation>` or `fetch`. A rejection ends
 * the process: it asked for what it was never offered.
 */
export type HostCalls = (operation: string, payload: string, call: CallUnderWay) => Promise<string>;

/**
 * Answers one `fetch` of the guest's. The payload is JSON `{url, method, headers: [[name, value]…], body?: base64,
 * redirect: 'follow'|'error'|'manual'}`, the answer JSON `{ok: true, value: {url, status, statusText, headers, body:
 * base64, redirected}}`, or `{ok: false, message}` with a text of ours, which the guest's promise is rejected with.
 */
export type FetchHandler = (payload: string, call: CallUnderWay) => Promise<string>;

const SVC = 'svc:';

/** What the guest of one run may ask of the world outside; anything else is refused by a rejection. */
export function createHostCalls(handlers: { svc: HostCalls | undefined; fetch: FetchHandler }): HostCalls {
  const { svc, fetch } = handlers;
  return async (operation, payload, call) => {
    if (operation === 'fetch') return fetch(payload, call);
    if (svc && operation.startsWith(SVC)) return svc(operation.slice(SVC.length), payload, call);
    throw new Error('The code asked for what it was not offered.');
  };
}
