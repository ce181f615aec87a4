import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isJsonObject } from '../../domain/json.ts';
import type { JsonObject } from '../../domain/json.ts';
import { BUSY_HEADER, CONCURRENCY_HEADER } from '../protocol.ts';
import type { InvokeRequest } from '../protocol.ts';
import type { CheckOutcome, InvocationOutcome } from '../types.ts';

/** What a supervisor serves; each absent part answers 404. */
export interface Served {
  /** Absent where the connection itself has shown who calls. */
  credential?: string;
  revision?: string;
  concurrency: number;
  isFree(): boolean;
  /** Whether it takes nothing on any more: callers are to let go of their connections. */
  isLeaving(): boolean;
  invoke?(request: InvokeRequest): Promise<InvocationOutcome>;
  check?(code: string): Promise<CheckOutcome | undefined>;
}

/** Arguments of 1 MB, with an address and a key beside them. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** The HTTP side of a supervisor: refuses before it reads, and is busy before any code of the reactor runs. */
export function createListener(served: Served): RequestListener {
  return (request, response) => {
    response.setHeader(CONCURRENCY_HEADER, String(served.concurrency));
    if (served.isLeaving()) response.setHeader('connection', 'close');
    handle(served, request, response).catch(() => {
      if (!response.headersSent) answer(response, 500);
      else response.destroy();
    });
  };
}

async function handle(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (served.credential !== undefined && !holds(request.headers.authorization, served.credential)) {
    return answer(response, 401);
  }
  switch (`${request.method} ${request.url}`) {
    case 'GET /readyz':
      return served.isFree() ? answer(response, 200) : busy(response);
    case 'POST /invoke':
      return served.invoke ? invoke(served, served.invoke.bind(served), request, response) : answer(response, 404);
    case 'POST /check':
      return served.check ? check(served.check.bind(served), request, response) : answer(response, 404);
    default:
      return answer(response, 404);
  }
}

async function invoke(
  served: Served,
  run: NonNullable<Served['invoke']>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!served.isFree()) return busy(response);
  const body = await readJson(request);
  if (!body || typeof body['timeoutMs'] !== 'number') return answer(response, 400);
  // Another request may have taken the last place while this one's body came in.
  if (body['revision'] !== served.revision || !served.isFree()) return busy(response);
  answer(response, 200, await run(body as unknown as InvokeRequest));
}

async function check(
  run: NonNullable<Served['check']>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJson(request);
  if (typeof body?.code !== 'string') return answer(response, 400);
  const outcome = await run(body.code);
  return outcome ? answer(response, 200, outcome) : busy(response);
}

function busy(response: ServerResponse): void {
  response.setHeader(BUSY_HEADER, '1');
  answer(response, 503);
}

function answer(response: ServerResponse, status: number, body?: unknown): void {
  response.statusCode = status;
  if (body !== undefined) response.setHeader('content-type', 'application/json');
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Compares digests, which are of equal length whatever was sent. */
function holds(authorization: string | undefined, credential: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${credential}`));
}

/** Undefined for what is too large or no JSON object. */
async function readJson(request: IncomingMessage): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
