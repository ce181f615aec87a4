import type { IncomingHttpHeaders } from 'node:http';
import type { KubernetesFailure } from './errors.ts';

/** What the API tells of a failure. */
export type Refusal = Pick<KubernetesFailure, 'status' | 'reason' | 'detail' | 'retryAfterMs'>;

/** The members that matter here; an intermediary may have written anything. */
interface Status {
  kind?: unknown;
  code?: unknown;
  reason?: unknown;
  message?: unknown;
  details?: { retryAfterSeconds?: unknown } | null;
}

const LONGEST_DETAIL = 2_000;

/** The refusal that an answer is; less of it where the body is no Status, as from a proxy in between. */
export function readRefusal(status: number, headers: IncomingHttpHeaders, body: string): Refusal {
  const told = readStatus(parseOrNothing(body));
  return { ...told, status, retryAfterMs: told.retryAfterMs ?? retryAfterMs(headers['retry-after']) };
}

/** The refusal that a Status object is. */
export function readStatus(value: unknown): Refusal {
  if (typeof value !== 'object' || value === null) return {};
  const { kind, code, reason, message, details } = value as Status;
  if (kind !== 'Status') return {};
  const seconds = details?.retryAfterSeconds;
  return {
    status: typeof code === 'number' ? code : undefined,
    // It goes into messages, so it must be a plain word.
    reason: typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) ? reason : undefined,
    detail: typeof message === 'string' ? message.slice(0, LONGEST_DETAIL) : undefined,
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined,
  };
}

function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d{1,6}$/.test(header.trim())) return undefined;
  return Number(header) * 1_000;
}

function parseOrNothing(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
