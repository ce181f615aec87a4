import type { Claim, IdempotencySlot, StoredAnswer } from '../data/idempotent-answers.ts';
import type { Grants } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import type { KeyedHasher } from '../keys/keyed-hashes.ts';
import type { SealedPlace, Sealer } from '../keys/sealing.ts';

/** An answer in the form in which it is given, and given again. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where the answer has none. */
  readonly body?: string;
}

/** What is kept of a successful request: all of it sealed. */
interface KeptRequest {
  operation: string;
  /** What the caller was allowed when it got the answer. */
  access: Grants;
  /** Null: it succeeded, and its answer was too large to be kept. */
  answer: KeptAnswer | null;
}

/** Where answers become what is stored of them, and back. */
export interface AnswerVault {
  slotOf(caller: Caller, key: string): Promise<IdempotencySlot>;
  seal(claim: Claim, request: { caller: Caller; operation: string }, answer: KeptAnswer): Promise<Buffer>;
  /** Undefined where what is stored is damaged. */
  open(slot: IdempotencySlot, stored: StoredAnswer): Promise<KeptRequest | undefined>;
}

/** Largest body that is kept, in bytes: bounds what one key can fill. */
const KEPT_BODY_BYTES = 1024 * 1024;

// The claim is new each time that the key is: an answer of days ago is none to the request of today.
function placeOf({ tenantId, ownerId, keyHash }: IdempotencySlot, claim: string): SealedPlace {
  const rowId = `${ownerId}/${keyHash.toString('hex')}`;
  return { tenantId, table: 'idempotent_answers', rowId, column: 'answer', version: claim };
}

function isSmall({ body = '' }: KeptAnswer): boolean {
  return Buffer.byteLength(body) <= KEPT_BODY_BYTES;
}

export function createAnswerVault(sealer: Sealer, hasher: KeyedHasher): AnswerVault {
  return {
    async slotOf({ tenantId, applicationId, sessionId }, key) {
      // No token type has a space in its name, so that this is nobody's fingerprint.
      const keyHash = await hasher.fingerprint(tenantId, 'idempotency key', key);
      return { tenantId, ownerId: sessionId ?? applicationId, applicationId, keyHash };
    },
    async seal(claim, { caller, operation }, answer) {
      const { permissions, rules } = caller;
      const kept = { operation, access: { permissions, rules }, answer: isSmall(answer) ? answer : null };
      return sealer.seal(placeOf(claim, claim.claim), JSON.stringify(kept));
    },
    async open(slot, { answer, sealedFormat, claim }) {
      const value = { place: placeOf(slot, claim), format: sealedFormat, sealed: answer };
      const [plaintext] = await sealer.openMany([value]);
      return plaintext && (JSON.parse(plaintext.toString('utf8')) as KeptRequest);
    },
  };
}
