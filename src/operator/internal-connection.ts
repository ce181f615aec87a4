import { request as plainRequest, Agent as PlainAgent } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as secureRequest, Agent as SecureAgent } from 'node:https';
import { text } from 'node:stream/consumers';

/** Where the internal API is, and what opens it. */
export interface InternalApiAccess {
  /** Such as `https://tokenkeep-internal:8443`. */
  baseUrl: string;
  /** The bearer token. A function is asked for each request: tokens of ServiceAccounts are replaced under way. */
  token: string | (() => Promise<string>);
  /**
   * PEM of the authorities that may have signed the API's certificate, in place of the system's. Asked for each request
   * too.
   */
  ca?: () => Promise<string>;
  /** Whose certificate it has, where that is not the host of `baseUrl`: of a replica that is reached by its address. */
  serverName?: string;
}

export interface InternalRequest {
  method: string;
  /** Below `/internal/`. */
  path: string;
  body?: object | undefined;
  /** Breaks off the request, and its answer. */
  signal: AbortSignal;
}

/** An answer whose body is not read yet. */
export interface InternalAnswer {
  status: number;
  /** Rejects where it breaks off, and where it is no JSON. Of an empty body, undefined. */
  json(): Promise<unknown>;
  /** Rejects, while it is read, where it breaks off. */
  chunks: AsyncIterable<Buffer>;
}

/** Requests over HTTP or HTTPS, with keep-alive: each must be one that may be repeated. Follows no redirect. */
export interface InternalConnection {
  /** Rejects with whatever kept an answer from coming, also with what `token` and `ca` reject with. */
  send(request: InternalRequest): Promise<InternalAnswer>;
  /** Closes connections that nobody uses. */
  close(): void;
}

export function createInternalConnection({ baseUrl, token, ca, serverName }: InternalApiAccess): InternalConnection {
  const isSecure = new URL(baseUrl).protocol === 'https:';
  let agent: PlainAgent | SecureAgent | undefined;
  let trusted: string | undefined;

  async function agentNow(): Promise<PlainAgent | SecureAgent> {
    const authorities = isSecure ? await ca?.() : undefined;
    if (agent === undefined || authorities !== trusted) {
      // The one before ends with its connections, which the API closes once they are idle.
      agent = isSecure ? secureAgent(authorities, serverName) : new PlainAgent({ keepAlive: true });
      trusted = authorities;
    }
    return agent;
  }

  async function attempt({ method, path, body, signal }: InternalRequest): Promise<InternalAnswer | 'stale'> {
    const bearer = typeof token === 'string' ? token : await token();
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: Record<string, string> = { authorization: `Bearer ${bearer}` };
    if (content !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = String(content.length);
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = (isSecure ? secureRequest : plainRequest)(new URL(`/internal/${path}`, baseUrl), {
      ...{ method, headers, signal },
      agent: await agentNow(),
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(content);
    try {
      return answerOf(await promise);
    } catch (error) {
      if (request.reusedSocket && wasReset(error)) return 'stale';
      throw error;
    }
  }

  return {
    async send(request) {
      for (;;) {
        // A connection that the API closed in that moment tells nothing of it. Each attempt uses one of them up.
        const answer = await attempt(request);
        if (answer !== 'stale') return answer;
      }
    },
    close: () => agent?.destroy(),
  };
}

function wasReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

function secureAgent(authorities: string | undefined, serverName: string | undefined): SecureAgent {
  const trust = authorities === undefined ? {} : { ca: authorities };
  const identity = serverName === undefined ? {} : { servername: serverName };
  return new SecureAgent({ keepAlive: true, minVersion: 'TLSv1.2', ...trust, ...identity });
}

function answerOf(message: IncomingMessage): InternalAnswer {
  // What breaks off is told to whoever reads it, and nobody has to.
  message.on('error', () => undefined);
  return {
    status: message.statusCode ?? 0,
    async json() {
      const body = await text(message);
      return body === '' ? undefined : (JSON.parse(body) as unknown);
    },
    chunks: message,
  };
}
