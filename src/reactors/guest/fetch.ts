import type { GuestAbort, GuestSignal } from './abort.ts';
import type { GuestBuffer } from './buffer.ts';
import type { GuestCalls } from './calls.ts';
import type { GuestHeaders } from './headers.ts';
import type { HostCall } from './types.ts';
import type { GuestUrl } from './url.ts';

export interface FetchParts {
  host: HostCall;
  calls: GuestCalls;
  Buffer: GuestBuffer;
  Headers: GuestHeaders;
  abort: GuestAbort;
  url: GuestUrl;
}

/**
 * `fetch`, `Request` and `Response`. Bodies are whole: they are read before the promise of `fetch` is fulfilled, and
 * what is called a stream is an async iterable of one chunk.
 */
export function createFetch({ host, calls, Buffer, Headers, abort, url }: FetchParts) {
  type Bytes = InstanceType<GuestBuffer>;
  /** Whichever of its forms is at hand; others are made when they are asked for. */
  type Content = { text: string } | { base64: string } | { bytes: Bytes };
  interface Init {
    method?: unknown;
    headers?: unknown;
    body?: unknown;
    redirect?: unknown;
    signal?: unknown;
    integrity?: unknown;
  }
  interface Answer {
    url: string;
    status: number;
    statusText: string;
    headers: [string, string][];
    body: string;
    redirected: boolean;
  }

  const textOf = (content: Content): string =>
    'text' in content
      ? content.text
      : host('base64-text', 'base64' in content ? content.base64 : content.bytes.toString('base64'));
  const base64Of = (content: Content): string =>
    'base64' in content
      ? content.base64
      : 'text' in content
        ? host('text-base64', content.text)
        : content.bytes.toString('base64');
  const bytesOf = (content: Content): Bytes =>
    'bytes' in content ? content.bytes : Buffer.from(base64Of(content) as never, 'base64');

  function contentOf(body: unknown): { content: Content | null; type: string | null } {
    if (body === undefined || body === null) return { content: null, type: null };
    if (body instanceof url.URLSearchParams) {
      return { content: { text: body.toString() }, type: 'application/x-www-form-urlencoded;charset=UTF-8' };
    }
    if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
      const view = ArrayBuffer.isView(body)
        ? Buffer.from(body.buffer as never, body.byteOffset, body.byteLength)
        : Buffer.from(body as never);
      return { content: { bytes: Buffer.from(view as never) }, type: null };
    }
    return { content: { text: `${body as string}` }, type: 'text/plain;charset=UTF-8' };
  }

  let contentIn: (body: Body) => Content | null;

  class Body {
    #content: Content | null = null;
    #used = false;

    static {
      contentIn = (body) => {
        if (body.#used) throw new TypeError('Body is unusable: Body has already been read');
        return body.#content;
      };
    }
    protected hold(content: Content | null): void {
      this.#content = content;
    }
    #take(): Content {
      const content = contentIn(this);
      if (content !== null) this.#used = true;
      return content ?? { text: '' };
    }
    get bodyUsed(): boolean {
      return this.#used;
    }
    get body(): AsyncIterable<Bytes> | null {
      if (this.#content === null) return null;
      const take = () => bytesOf(this.#take());
      return {
        async *[Symbol.asyncIterator]() {
          yield take();
        },
      };
    }
    async text(): Promise<string> {
      return textOf(this.#take()).replace(/^\ufeff/, '');
    }
    async json(): Promise<unknown> {
      return JSON.parse(await this.text());
    }
    async arrayBuffer(): Promise<ArrayBuffer> {
      return Uint8Array.from(bytesOf(this.#take())).buffer;
    }
    async bytes(): Promise<Uint8Array> {
      return new Uint8Array(await this.arrayBuffer());
    }
  }

  function signalOf(signal: unknown): GuestSignal | null {
    if (signal === undefined || signal === null) return null;
    if (signal instanceof abort.globals.AbortSignal) return signal;
    throw new TypeError('The signal is not an AbortSignal');
  }

  class Request extends Body {
    readonly url: string;
    readonly method: string;
    readonly headers: InstanceType<GuestHeaders>;
    readonly redirect: string;
    readonly signal: GuestSignal;

    constructor(input: unknown, init: Init = {}) {
      super();
      const from = input instanceof Request ? input : undefined;
      const address = new url.URL(from ? from.url : input);
      if (address.username !== '' || address.password !== '')
        throw new TypeError('The URL of a request must not hold credentials');
      this.url = address.href;
      const method = `${(init.method ?? from?.method ?? 'GET') as string}`;
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method)) throw new TypeError('The method is not valid');
      this.method = /^(delete|get|head|options|post|put|patch)$/i.test(method) ? method.toUpperCase() : method;
      this.headers = new Headers(init.headers ?? from?.headers);
      this.redirect = `${(init.redirect ?? from?.redirect ?? 'follow') as string}`;
      if (!/^(follow|error|manual)$/.test(this.redirect)) throw new TypeError('redirect is follow, error or manual');
      // Taken and not looked at, it would promise what nobody keeps.
      if ((init.integrity ?? '') !== '')
        throw new TypeError('integrity is not supported: compare a digest of the body');
      this.signal = signalOf(init.signal) ?? from?.signal ?? new abort.globals.AbortController().signal;
      const { content, type } = contentOf(init.body);
      const held = init.body === undefined && from ? contentIn(from) : content;
      if (held !== null && (this.method === 'GET' || this.method === 'HEAD'))
        throw new TypeError('A request with the method GET or HEAD has no body');
      if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type);
      this.hold(held);
    }
    clone(): Request {
      return new Request(this);
    }
  }

  class Response extends Body {
    readonly status: number;
    readonly statusText: string;
    readonly headers: InstanceType<GuestHeaders>;
    readonly type: string = 'default';
    readonly url: string = '';
    readonly redirected: boolean = false;

    constructor(body?: unknown, init: { status?: number; statusText?: unknown; headers?: unknown } = {}) {
      super();
      this.status = init.status ?? 200;
      if (!Number.isInteger(this.status) || this.status < 200 || this.status > 599)
        throw new RangeError('The status is from 200 to 599');
      this.statusText = `${(init.statusText ?? '') as string}`;
      this.headers = new Headers(init.headers);
      const { content, type } = contentOf(body);
      if (type !== null && !this.headers.has('content-type')) this.headers.set('content-type', type);
      this.hold(content);
    }
    /** Of this class, from what the host has answered; also of a class that extends it. */
    static answered<T extends typeof Response>(this: T, answer: Answer): InstanceType<T> {
      const { status, statusText, headers, body, redirected } = answer;
      const [address] = answer.url.split('#');
      if (status < 200 || status > 599) throw new TypeError('The answer has no valid status');
      const response = new this(undefined, { status, statusText, headers });
      Object.assign(response, { url: address, redirected, type: 'basic' });
      response.hold({ base64: body });
      return response as InstanceType<T>;
    }
    static json(data: unknown, init: { status?: number; headers?: unknown } = {}): Response {
      const headers = new Headers(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(JSON.stringify(data), { ...init, headers });
    }
    static error(): Response {
      return Object.assign(new Response(), { status: 0, type: 'error' });
    }
    static redirect(target: unknown, status = 302): Response {
      return new Response(null, { status, headers: { location: new url.URL(target).href } });
    }
    get ok(): boolean {
      return this.status >= 200 && this.status <= 299;
    }
    clone(): Response {
      const { status, statusText, headers, type, url: address, redirected } = this;
      const copy = new Response(undefined, { status, statusText, headers });
      Object.assign(copy, { type, url: address, redirected });
      copy.hold(contentIn(this));
      return copy;
    }
  }

  /** The host's answer; the promise of a request that was aborted is rejected at once, and the host breaks it off. */
  async function ask(request: Request): Promise<Answer> {
    const { signal, headers, method, redirect } = request;
    signal.throwIfAborted();
    const content = contentIn(request);
    if (!headers.has('accept')) headers.set('accept', '*/*');
    const payload = JSON.stringify({
      url: request.url,
      method,
      headers: [...headers],
      ...(content === null ? {} : { body: base64Of(content) }),
      redirect,
    });
    const aborted = Promise.withResolvers<never>();
    const call = calls.call('fetch', payload, (reason) => new TypeError(reason));
    const onAbort = (): void => {
      call.cancel();
      // The reason is the code's own, whatever it is.
      aborted.reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
    try {
      const text = await Promise.race([call.answer, aborted.promise]);
      const answer = JSON.parse(text) as { ok: true; value: Answer } | { ok: false; message: string };
      if (answer.ok) return answer.value;
      throw new TypeError(answer.message);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  const fetch = async (input: unknown, init?: Init): Promise<Response> =>
    Response.answered(await ask(new Request(input, init)));

  return { globals: { fetch, Headers, Request, Response }, ask, Body };
}

export type GuestFetch = ReturnType<typeof createFetch>;
