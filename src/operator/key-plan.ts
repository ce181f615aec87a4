import { digestOfKey } from '../domain/application-keys.ts';
import { parseDurationSeconds } from './durations.ts';
import type { ApplicationKeySpec } from './kinds/application.ts';
import { KEY_DIGEST_ANNOTATION } from './sources/secret-marks.ts';
import type { OwnedSecret } from './sources/types.ts';

/** The entry of an application's Secret that holds its key. */
export const KEY_ENTRY = 'api-key';

/** What a Secret's annotations tell of its key. Digests only: the value is in the entry alone. */
export interface KeyRecord {
  digest: string;
  createdAtMs: number;
  /** The key before it, while it still works. */
  previous?: { digest: string; expiresAtMs: number };
}

/** What is to be done about the key of a Secret: nothing until `nextChangeAtMs`, or another key beside `previous`. */
export type KeyPlan =
  | { action: 'keep'; record: KeyRecord; nextChangeAtMs?: number }
  | { action: 'make'; why: 'Created' | 'Rotated'; previous?: KeyRecord['previous'] };

const CREATED_AT = 'tokenkeep.dev/key-created-at';
const PREVIOUS_DIGEST = 'tokenkeep.dev/previous-key-digest';
const PREVIOUS_EXPIRES_AT = 'tokenkeep.dev/previous-key-expires-at';
const LONGEST_DEFAULT_OVERLAP_MS = 24 * 3600 * 1000;

export function keyAnnotations({ digest, createdAtMs, previous }: KeyRecord): Record<string, string> {
  return {
    [KEY_DIGEST_ANNOTATION]: digest,
    [CREATED_AT]: new Date(createdAtMs).toISOString(),
    ...(previous === undefined
      ? {}
      : { [PREVIOUS_DIGEST]: previous.digest, [PREVIOUS_EXPIRES_AT]: new Date(previous.expiresAtMs).toISOString() }),
  };
}

/**
 * Decides from the Secret alone, so that a restart at any point goes on where it was.
 *
 * An entry that is missing, or not the key of the record, is lost: nobody but the API knows it any more, and that only
 * by its digest. So another key is made, and the lost one is revoked by being declared no longer. A rotation that broke
 * off between record and entry looks the same, and keeps the replaced key for its overlap.
 */
export function planKey(secret: OwnedSecret | undefined, spec: ApplicationKeySpec, nowMs: number): KeyPlan {
  const record = secret && readRecord(secret.annotations, nowMs);
  if (record === undefined) return { action: 'make', why: 'Created' };
  const value = secret?.data[KEY_ENTRY];
  if (value === undefined || digestOfKey(value) !== record.digest) {
    return { action: 'make', why: 'Created', ...keptPrevious(record.previous) };
  }
  const rotateAtMs = spec.rotateAfter && record.createdAtMs + parseDurationSeconds(spec.rotateAfter) * 1000;
  if (rotateAtMs && rotateAtMs <= nowMs) {
    return {
      action: 'make',
      why: 'Rotated',
      previous: { digest: record.digest, expiresAtMs: nowMs + overlapMs(spec) },
    };
  }
  const moments = [rotateAtMs, record.previous?.expiresAtMs].filter((moment) => typeof moment === 'number');
  return { action: 'keep', record, ...(moments.length > 0 ? { nextChangeAtMs: Math.min(...moments) } : {}) };
}

function readRecord(annotations: Record<string, string>, nowMs: number): KeyRecord | undefined {
  const digest = annotations[KEY_DIGEST_ANNOTATION];
  const createdAtMs = Date.parse(annotations[CREATED_AT] ?? '');
  if (digest === undefined || Number.isNaN(createdAtMs)) return undefined;
  const previousDigest = annotations[PREVIOUS_DIGEST];
  const expiresAtMs = Date.parse(annotations[PREVIOUS_EXPIRES_AT] ?? '');
  const isPreviousValid = previousDigest !== undefined && expiresAtMs > nowMs;
  return { digest, createdAtMs, ...(isPreviousValid ? { previous: { digest: previousDigest, expiresAtMs } } : {}) };
}

function keptPrevious(previous: KeyRecord['previous']): Pick<KeyRecord, 'previous'> {
  return previous === undefined ? {} : { previous };
}

function overlapMs({ overlap, rotateAfter }: ApplicationKeySpec): number {
  if (overlap !== undefined) return parseDurationSeconds(overlap) * 1000;
  return Math.min(LONGEST_DEFAULT_OVERLAP_MS, (parseDurationSeconds(rotateAfter ?? '48h') * 1000) / 2);
}
