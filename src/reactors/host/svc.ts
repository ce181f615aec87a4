import { Agent as SecureAgent } from 'node:https';
import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import { errorClassOf } from '../errors.ts';
import { AnswerTooLarge, ExchangeError, exchange } from '../../platform/http-exchange.ts';
import type { ExchangeRequest } from '../../platform/http-exchange.ts';
import { INVOCATION_LIMITS } from '../types.ts';
import type { SvcAccess } from '../types.ts';
import type { CallUnderWay, HostCalls } from './host-calls.ts';

interface Operation {
  method: string;
  path: string;
  contentType?: string;
}

/** Everything that a reactor's `svc` can ask of the API. `{id}` and a query are filled in from its input. */
const OPERATIONS: Record<string, Operation> = {
  'tokens.create': { method: 'POST', path: '/tokens' },
  'tokens.retrieve': { method: 'GET', path: '/tokens/{id}' },
  'tokens.update': { method: 'PATCH', path: '/tokens/{id}', contentType: 'application/merge-patch+json' },
  'tokens.delete': { method: 'DELETE', path: '/tokens/{id}' },
  'tokens.list': { method: 'GET', path: '/tokens' },
  'tokens.search': { method: 'POST', path: '/tokens/search' },
  tokenize: { method: 'POST', path: '/tokenize' },
  detokenize: { method: 'POST', path: '/detokenize' },
};

type Answer =
  { ok: true; value: Json } | { ok: false; class: string; status: number; errors: Record<string, Json> | string };

/** PEM of the authorities that the API's certificate may be of, as they are now. */
export type Authorities = () => string;

/** Shorter than the API keeps idle connections, so that none is closed as a request goes out on it. */
const IDLE_CONNECTION_MS = 30_000;
/** With each connection the API shows its certificate: none is resumed from one where it did so long ago. */
const secureAgent = new SecureAgent({ keepAlive: true, timeout: IDLE_CONNECTION_MS, maxCachedSessions: 0 });

/**
 * Calls the API for one invocation. The key stays here; only the API's answer goes to the guest.
 *
 * @param leftMs What is left of the run, in ms, for a call that begins.
 * @param authorities Present on a network: the key is told there to nobody but what proves by TLS to be the API.
 */
export function createSvcHandler(
  access: SvcAccess,
  traceId: string,
  leftMs: () => number,
  authorities?: Authorities,
): HostCalls {
  return async (operation, payload, { signal, hold }) => {
    const secured = securityOf(access, authorities);
    const answer = secured
      ? await call(access, { ...secured, signal, hold }, traceId, leftMs(), operation, payload)
      : unanswered();
    return JSON.stringify(answer);
  };
}

/** Undefined where the API must not be called so. */
function securityOf(
  { baseUrl, serverName: servername }: SvcAccess,
  authorities: Authorities | undefined,
): Pick<ExchangeRequest, 'agent' | 'connection'> | undefined {
  if (authorities === undefined && servername === undefined) return {};
  if (authorities === undefined || servername === undefined || !baseUrl.startsWith('https:')) return undefined;
  // Kept connections are told apart by name and authorities.
  return { agent: secureAgent, connection: { servername, ca: authorities(), minVersion: 'TLSv1.3' } };
}

async function call(
  access: SvcAccess,
  exchanged: Pick<ExchangeRequest, 'agent' | 'connection'> & CallUnderWay,
  traceId: string,
  timeoutMs: number,
  operation: string,
  payload: string,
): Promise<Answer> {
  const known = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  const input = parseObject(payload);
  const path = known && input && pathOf(known.path, input);
  if (!known || !input || path === undefined) return failure(400, 'The arguments of the call are invalid.');
  const { method, contentType = 'application/json' } = known;
  const hasBody = method === 'POST' || method === 'PATCH';
  try {
    const { status, body } = await exchange({
      method,
      url: access.baseUrl.replace(/\/$/, '') + path,
      headers: {
        accept: 'application/json',
        ...access.trace,
        [`${access.headerPrefix}-API-KEY`]: access.key,
        [`${access.headerPrefix}-TRACE-ID`]: traceId,
        ...(hasBody ? { 'content-type': contentType } : {}),
      },
      ...(hasBody ? { body: JSON.stringify(input['body'] ?? null) } : {}),
      timeoutMs,
      maxBytes: INVOCATION_LIMITS.payloadBytes,
      ...exchanged,
    });
    return answerOf(status, body);
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      return failure(502, 'The answer of the API is larger than 1 MB, or than there is room for.');
    if (error instanceof ExchangeError) return unanswered();
    throw error;
  }
}

function answerOf(status: number, body: string): Answer {
  if (status >= 200 && status < 300) {
    if (body === '') return { ok: true, value: null };
    const value = parse(body);
    return value === undefined ? failure(502, 'The answer of the API is no JSON.') : { ok: true, value };
  }
  const problem = parseObject(body);
  if (isJsonObject(problem?.['errors'])) {
    return { ok: false, class: errorClassOf(status), status, errors: problem['errors'] };
  }
  const detail = problem?.['detail'] ?? problem?.['title'];
  return failure(status, typeof detail === 'string' ? detail : 'The API refused the call.');
}

function unanswered(): Answer {
  return failure(503, 'The API did not answer.');
}

function failure(status: number, message: string): Answer {
  return { ok: false, class: errorClassOf(status), status, errors: message };
}

function pathOf(template: string, input: Record<string, Json>): string | undefined {
  const { id, query } = input;
  if (template.includes('{id}')) {
    // "." and ".." name other resources even when they are encoded.
    return typeof id === 'string' && !/^\.{0,2}$/.test(id)
      ? template.replace('{id}', encodeURIComponent(id))
      : undefined;
  }
  if (!isJsonObject(query)) return template;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) search.append(name, typeof item === 'string' ? item : JSON.stringify(item));
  }
  return `${template}?${search.toString()}`;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function parseObject(text: string): Record<string, Json> | undefined {
  const value = parse(text);
  return isJsonObject(value) ? value : undefined;
}
