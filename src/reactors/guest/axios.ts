import type { GuestAbort, GuestSignal } from './abort.ts';
import type { GuestBuffer } from './buffer.ts';
import type { GuestFetch } from './fetch.ts';
import type { GuestUrl } from './url.ts';

export interface AxiosParts {
  fetch: GuestFetch;
  abort: GuestAbort;
  Buffer: GuestBuffer;
  url: GuestUrl;
}

/** The client of the package axios: its calls, settings, interceptors and errors, without agents, streams and XSRF. */
export function createAxios({ fetch, abort, Buffer, url }: AxiosParts) {
  interface Config {
    url?: string;
    method?: string;
    baseURL?: string;
    headers?: Record<string, unknown>;
    params?: unknown;
    paramsSerializer?: ((params: unknown) => string) | { serialize?: (params: unknown) => string };
    data?: unknown;
    auth?: { username: string; password: string };
    timeout?: number;
    responseType?: string;
    validateStatus?: ((status: number) => boolean) | null;
    transformRequest?: Transform | Transform[];
    transformResponse?: Transform | Transform[];
    maxRedirects?: number;
    signal?: GuestSignal;
  }
  type Transform = (data: unknown, headers: unknown, status?: number) => unknown;
  interface Answer {
    data: unknown;
    status: number;
    statusText: string;
    headers: Record<string, unknown>;
    config: Config;
    request: object;
  }
  type Handler = ((value: never) => unknown) | null | undefined;

  class AxiosError extends Error {
    override readonly name = 'AxiosError';
    readonly isAxiosError = true;
    readonly code: string | undefined;
    readonly config: Config | undefined;
    readonly request: object | undefined;
    readonly response: Answer | undefined;
    readonly status: number | undefined;
    constructor(message: string, code?: string, config?: Config, request?: object, response?: Answer) {
      super(message);
      this.code = code;
      this.config = config;
      this.request = request;
      this.response = response;
      this.status = response?.status;
    }
    toJSON(): object {
      const { message, name, code, status } = this;
      return { message, name, code, status: status ?? null };
    }
  }

  class Interceptors {
    readonly handlers: ([Handler, Handler] | null)[] = [];
    use(fulfilled: Handler, rejected?: Handler): number {
      return this.handlers.push([fulfilled, rejected]) - 1;
    }
    eject(id: number): void {
      this.handlers[id] = null;
    }
  }

  const isPlain = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as never);

  function merge(defaults: Config, config: Config): Config {
    const merged = { ...defaults, ...config } as Record<string, unknown>;
    for (const name of ['headers', 'params', 'auth']) {
      const [before, after] = [defaults, config].map((one) => (one as Record<string, unknown>)[name]);
      if (isPlain(before) && isPlain(after)) merged[name] = { ...before, ...after };
    }
    return merged;
  }

  function encode(text: unknown): string {
    return encodeURIComponent(`${text as string}`)
      .replace(/%3A/gi, ':')
      .replace(/%24/g, '$')
      .replace(/%2C/gi, ',')
      .replace(/%20/g, '+');
  }

  function pairsOf(name: string, value: unknown): string[] {
    if (value === undefined || value === null) return [];
    if (value instanceof Date) return [`${encode(name)}=${encode(value.toISOString())}`];
    if (Array.isArray(value)) {
      return value.flatMap((item, at) => pairsOf(isPlain(item) ? `${name}[${at}]` : `${name}[]`, item));
    }
    if (isPlain(value)) return Object.entries(value).flatMap(([key, item]) => pairsOf(`${name}[${key}]`, item));
    return [`${encode(name)}=${encode(value)}`];
  }

  function addressOf({ baseURL, url: path = '', params, paramsSerializer }: Config): string {
    const isAbsolute = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(path);
    const joined = path === '' ? baseURL : `${(baseURL ?? '').replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
    const base = baseURL === undefined || isAbsolute ? path : joined!;
    if (params === undefined || params === null) return base;
    const serialize = typeof paramsSerializer === 'function' ? paramsSerializer : paramsSerializer?.serialize;
    const own = (): string =>
      params instanceof url.URLSearchParams
        ? params.toString()
        : Object.entries(params)
            .flatMap(([name, value]) => pairsOf(name, value))
            .join('&');
    const query = serialize ? serialize(params) : own();
    const bare = base.split('#')[0]!;
    return query === '' ? bare : `${bare}${bare.includes('?') ? '&' : '?'}${query}`;
  }

  const inTurn = (transforms: Transform | Transform[] | undefined, usual: Transform): Transform[] =>
    [transforms ?? usual].flat();

  /** What axios makes of data that is not yet text or bytes. */
  function bodyOf(data: unknown, headers: InstanceType<typeof fetch.globals.Headers>): unknown {
    if (data === undefined || data === null) return undefined;
    if (data instanceof url.URLSearchParams) {
      headers.set('content-type', 'application/x-www-form-urlencoded;charset=utf-8');
      return data.toString();
    }
    if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) return data;
    const type = headers.get('content-type') ?? '';
    if (typeof data === 'object' && type.startsWith('application/x-www-form-urlencoded')) {
      return Object.entries(data)
        .flatMap(([name, value]) => pairsOf(name, value))
        .join('&');
    }
    if (typeof data === 'object' || type.includes('application/json')) {
      if (type === '') headers.set('content-type', 'application/json');
      const isJson = typeof data === 'string' && type.includes('application/json') && isJsonText(data);
      return isJson ? data : JSON.stringify(data);
    }
    if (type === '') headers.set('content-type', 'application/x-www-form-urlencoded');
    return `${data as string}`;
  }

  function isJsonText(text: string): boolean {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }

  function parsed(text: unknown): unknown {
    if (typeof text !== 'string' || text === '') return text;
    try {
      return JSON.parse(text);
    } catch {
      // As axios does: what is no JSON stays text.
      return text;
    }
  }

  async function dispatch(config: Config): Promise<Answer> {
    const { method = 'get', headers: given, auth, timeout = 0, responseType = 'json', maxRedirects, signal } = config;
    const headers = new fetch.globals.Headers();
    for (const [name, value] of Object.entries(given ?? {})) {
      if (value !== undefined && value !== null && value !== false) headers.set(name, value);
    }
    if (!headers.has('accept')) headers.set('accept', 'application/json, text/plain, */*');
    if (auth) {
      const credentials = Buffer.from(`${auth.username}:${auth.password}` as never).toString('base64');
      headers.set('authorization', `Basic ${credentials}`);
    }
    const transformed = inTurn(config.transformRequest, (data) => data).reduce(
      (data, transform) => transform(data, given ?? {}),
      config.data,
    );
    const body = bodyOf(transformed, headers);
    const timer = abort.deadline(timeout);
    const signals = [signal, timer.signal].filter((one) => one !== undefined);
    const address = addressOf(config);
    const request = { path: address, method: method.toUpperCase() };
    let response: InstanceType<typeof fetch.globals.Response>;
    try {
      response = await fetch.globals.fetch(address, {
        method: method.toUpperCase(),
        headers,
        ...(body === undefined || /^(get|head)$/i.test(method) ? {} : { body }),
        redirect: maxRedirects === 0 ? 'manual' : 'follow',
        signal: abort.globals.AbortSignal.any(signals),
      });
    } catch (error) {
      if (timer.signal.aborted)
        throw new AxiosError(`timeout of ${timeout}ms exceeded`, 'ECONNABORTED', config, request);
      if (signal?.aborted) throw new CanceledError('canceled', 'ERR_CANCELED', config, request);
      const isUrl = (error as { code?: unknown }).code === 'ERR_INVALID_URL';
      throw new AxiosError((error as Error).message, isUrl ? 'ERR_INVALID_URL' : 'ERR_NETWORK', config, request);
    } finally {
      timer.clear();
    }
    const plainHeaders: Record<string, unknown> = {};
    for (const [name, value] of response.headers) plainHeaders[name] = value;
    if (response.headers.has('set-cookie')) plainHeaders['set-cookie'] = response.headers.getSetCookie();
    const { status, statusText } = response;
    const raw: unknown =
      responseType === 'arraybuffer' ? Buffer.from((await response.arrayBuffer()) as never) : await response.text();
    const usual: Transform = (text) => (responseType === 'json' ? parsed(text) : text);
    const data = inTurn(config.transformResponse, usual).reduce(
      (value, transform) => transform(value, plainHeaders, status),
      raw,
    );
    const answer: Answer = { data, status, statusText, headers: plainHeaders, config: { ...config, method }, request };
    const isValid =
      config.validateStatus === undefined ? status >= 200 && status < 300 : config.validateStatus?.(status);
    if (isValid ?? true) return answer;
    const code = status >= 500 ? 'ERR_BAD_RESPONSE' : 'ERR_BAD_REQUEST';
    throw new AxiosError(`Request failed with status code ${status}`, code, config, request, answer);
  }

  class CanceledError extends AxiosError {
    readonly __CANCEL__ = true;
  }

  function instance(defaults: Config) {
    const interceptors = { request: new Interceptors(), response: new Interceptors() };

    function request(first: string | Config, second: Config = {}): Promise<unknown> {
      const config = merge(settings, typeof first === 'string' ? { ...second, url: first } : first);
      let chain: Promise<unknown> = Promise.resolve(config);
      // As in axios: the last interceptor of requests that was added is the first to see one.
      const before = interceptors.request.handlers.toReversed();
      for (const pair of before) if (pair) chain = chain.then(pair[0] as never, pair[1] as never);
      chain = chain.then((final) => dispatch(final as Config));
      for (const pair of interceptors.response.handlers)
        if (pair) chain = chain.then(pair[0] as never, pair[1] as never);
      return chain;
    }
    const settings: Config & { headers: Record<string, unknown> } = { ...defaults, headers: { ...defaults.headers } };
    // Where code written for axios puts headers for every request.
    for (const name of ['common', 'get', 'post', 'put', 'patch', 'delete']) {
      Object.defineProperty(settings.headers, name, { get: () => settings.headers, enumerable: false });
    }
    const bare =
      (method: string) =>
      (address: string, config: Config = {}) =>
        request({ ...config, method, url: address });
    const withData =
      (method: string, headers: Record<string, unknown> = {}) =>
      (address: string, data?: unknown, config: Config = {}) =>
        request({ ...config, headers: { ...headers, ...config.headers }, method, url: address, data });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    return Object.assign(request, {
      request,
      defaults: settings,
      interceptors,
      getUri: (config: Config) => addressOf(merge(settings, config)),
      get: bare('get'),
      delete: bare('delete'),
      head: bare('head'),
      options: bare('options'),
      post: withData('post'),
      put: withData('put'),
      patch: withData('patch'),
      postForm: withData('post', form),
      putForm: withData('put', form),
      patchForm: withData('patch', form),
    });
  }

  const isAxiosError = (error: unknown): boolean => error instanceof AxiosError;
  const axios = Object.assign(instance({}), {
    create: (config: Config = {}) => instance(merge(axios.defaults, config)),
    AxiosError,
    CanceledError,
    isAxiosError,
    isCancel: (error: unknown) => error instanceof CanceledError,
    all: (promises: Iterable<unknown>) => Promise.all(promises),
    spread:
      (callback: (...values: unknown[]) => unknown) =>
      (values: unknown[]): unknown =>
        callback(...values),
  });
  return Object.assign(axios, { default: axios });
}
