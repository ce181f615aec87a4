/** Tries to deliver one result, the first included. */
export const DELIVERY_ATTEMPTS = 10;

/** After the first failure, on the average; the waits after it grow by the factor, to 2 h 37 min in all. */
const FIRST_WAIT_MS = 5_000;
const FACTOR = 2.4;
/** Each wait is longer or shorter by up to this part of itself, so that receivers that fail together are not hit so. */
const JITTER = 0.2;
/** A receiver cannot put an attempt off for longer. */
const LONGEST_RETRY_AFTER_MS = 3600_000;

export interface FailedAttempt {
  /** Counted from 1. */
  readonly attempt: number;
  /** What the receiver asked for, if it did. */
  readonly retryAfterMs?: number | undefined;
  /** From 0 up to 1. */
  readonly random: number;
}

/** How long to wait after a failed attempt, in ms; undefined where it was the last. */
export function waitAfter({ attempt, retryAfterMs = 0, random }: FailedAttempt): number | undefined {
  if (attempt >= DELIVERY_ATTEMPTS) return undefined;
  const wait = FIRST_WAIT_MS * FACTOR ** (attempt - 1) * (1 + JITTER * (2 * random - 1));
  return Math.max(wait, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
}

/** The form of dates that senders use (RFC 9110, section 5.6.7); the parser takes much else for a date. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads a `Retry-After` header (RFC 9110): seconds or a date. Undefined where it is neither, or past. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) > 0 ? Number(text) * 1000 : undefined;
  const ms = HTTP_DATE.test(text) ? Date.parse(text) - now : NaN;
  return ms > 0 ? ms : undefined;
}
