import type { GuestAbort, GuestSignal } from './abort.ts';
import type { GuestBuffer } from './buffer.ts';
import type { GuestFetch } from './fetch.ts';

/** The package node-fetch in its version 2, as far as whole bodies go: neither agents nor Node's streams. */
export function createNodeFetch(parts: { fetch: GuestFetch; abort: GuestAbort; Buffer: GuestBuffer }) {
  const { fetch, abort, Buffer } = parts;
  const { Headers, Request, Response: BaseResponse } = fetch.globals;

  class FetchError extends Error {
    override readonly name = 'FetchError';
    readonly type: string;
    readonly errno: string | undefined;
    readonly code: string | undefined;
    constructor(message: string, type: string, cause?: { code?: string }) {
      super(message);
      this.type = type;
      if (cause) this.code = this.errno = cause.code ?? 'ERR_NETWORK';
    }
  }

  class AbortError extends Error {
    override readonly name = 'AbortError';
    readonly type = 'aborted';
  }

  class Response extends BaseResponse {
    async buffer(): Promise<unknown> {
      return Buffer.from((await this.arrayBuffer()) as never);
    }
    override async json(): Promise<unknown> {
      const text = await this.text();
      try {
        return JSON.parse(text);
      } catch (error) {
        const reason = (error as Error).message;
        throw new FetchError(`invalid json response body at ${this.url} reason: ${reason}`, 'invalid-json');
      }
    }
  }

  interface Options {
    timeout?: number;
    signal?: unknown;
    headers?: unknown;
    redirect?: unknown;
  }

  async function nodeFetch(input: unknown, options: Options = {}): Promise<Response> {
    const { timeout = 0, signal, ...rest } = options;
    const timer = abort.deadline(timeout);
    const signals = [signal, timer.signal].filter((one) => one !== undefined && one !== null) as GuestSignal[];
    const request = new Request(input, { ...rest, signal: abort.globals.AbortSignal.any(signals) });
    try {
      return Response.answered(await fetch.ask(request));
    } catch (error) {
      if (timer.signal.aborted) throw new FetchError(`network timeout at: ${request.url}`, 'request-timeout');
      if (request.signal.aborted) throw new AbortError('The user aborted a request.');
      const { message } = error as Error;
      throw new FetchError(`request to ${request.url} failed, reason: ${message}`, 'system', error as object);
    } finally {
      timer.clear();
    }
  }
  nodeFetch.isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

  return Object.assign(nodeFetch, { default: nodeFetch, Headers, Request, Response, FetchError, AbortError });
}
