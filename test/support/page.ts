/** Why a browser keeps an answer from the script that asked for it. */
export class CrossOriginError extends Error {
  override readonly name = 'CrossOriginError';
}

export interface PageRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** An answer as far as a script may read it. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** What goes without a preflight, and what is readable without being exposed. */
const SIMPLE_METHODS = ['GET', 'HEAD', 'POST'];
const SIMPLE_HEADERS = ['accept', 'accept-language', 'content-language'];
const SIMPLE_TYPES = ['text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded'];
const READABLE = ['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'last-modified'];

function listOf(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((entry) => entry.trim());
}

function requireAdmitted(origin: string, { headers }: Response): void {
  const admitted = headers.get('access-control-allow-origin');
  if (admitted !== '*' && admitted !== origin) throw new CrossOriginError(`${origin} is not admitted`);
}

/**
 * What `fetch` does in a page of this origin, without credentials, as the Fetch standard has it: a preflight where the
 * request is not simple, and of the answer only what the vault exposes. Throws a CrossOriginError for the rest.
 */
export async function fetchAsPage(origin: string, url: string, request: PageRequest = {}): Promise<PageAnswer> {
  const { method = 'GET', body } = request;
  const headers = new Headers(request.headers);
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  const special = [...headers]
    .filter(
      ([name, value]) => !SIMPLE_HEADERS.includes(name) && !(name === 'content-type' && SIMPLE_TYPES.includes(value)),
    )
    .map(([name]) => name);
  if (!SIMPLE_METHODS.includes(method) || special.length > 0) {
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        ...(special.length === 0 ? {} : { 'access-control-request-headers': special.join(',') }),
      },
    });
    requireAdmitted(origin, preflight);
    if (!preflight.ok) throw new CrossOriginError(`the preflight was answered by ${preflight.status}`);
    const methods = [...SIMPLE_METHODS, ...listOf(preflight.headers, 'access-control-allow-methods')];
    if (!methods.includes(method)) throw new CrossOriginError(`${method} is not allowed`);
    const allowed = listOf(preflight.headers, 'access-control-allow-headers').map((name) => name.toLowerCase());
    const refused = special.filter((name) => !allowed.includes(name));
    if (refused.length > 0) throw new CrossOriginError(`${refused.join(', ')} not allowed`);
  }
  headers.set('origin', origin);
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  requireAdmitted(origin, response);
  const exposed = listOf(response.headers, 'access-control-expose-headers').map((name) => name.toLowerCase());
  const readable = [...response.headers].filter(([name]) => READABLE.includes(name) || exposed.includes(name));
  return { status: response.status, headers: new Map(readable), text: await response.text() };
}
