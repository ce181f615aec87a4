import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Queryable, Statement } from './database.ts';

/** What an idempotency key stands for: an application's or a session's own use of it. */
export interface IdempotencySlot {
  tenantId: string;
  /** The application, or the session. */
  ownerId: string;
  /** That application, or the one that created that session: rows go with it. */
  applicationId: string;
  keyHash: Buffer;
}

/** One attempt at a request, and the slot that it holds while it is under way. */
export interface Claim extends IdempotencySlot {
  /** UUID. */
  claim: string;
}

function slotValues({ tenantId, ownerId, keyHash }: IdempotencySlot): unknown[] {
  return [tenantId, ownerId, keyHash];
}

const IN_SLOT = 'a.tenant_id = $1 and a.owner_id = $2 and a.key_hash = $3';

// Gives no row where another one has claimed the slot since this statement began: the select does not see it yet.
const CLAIM: Statement = {
  name: 'claim-idempotency-key',
  text: `
    with claimed as (
      insert into idempotent_answers as a (tenant_id, owner_id, key_hash, claim, expires_at, application_id)
      values ($1, $2, $3, $4, now() + make_interval(secs => $5), $6)
      on conflict (tenant_id, owner_id, key_hash) do update
      set claim = excluded.claim, answer = null, expires_at = excluded.expires_at,
        application_id = excluded.application_id
      where a.expires_at <= now()
      returning a.claim
    )
    select true as claimed, null::bytea as answer, null::smallint as "sealedFormat", null::uuid as claim from claimed
    union all
    select false, a.answer, a.sealed_format, a.claim from idempotent_answers a
    where ${IN_SLOT} and not exists (select from claimed)`,
};

/** The slot is this attempt's now; or another attempt is under way; or the sealed answer of an earlier one is there. */
export type ClaimOutcome = 'claimed' | 'under-way' | StoredAnswer;

/** A sealed answer, and the attempt that got it. */
export interface StoredAnswer {
  answer: Buffer;
  sealedFormat: number;
  claim: string;
}

/**
 * Claims a slot for at most `leaseSeconds`, by the database's clock, unless it is taken. One statement in every case.
 */
export async function claimSlot(queryable: Queryable, claim: Claim, leaseSeconds: number): Promise<ClaimOutcome> {
  const values = [...slotValues(claim), claim.claim, leaseSeconds, claim.applicationId];
  const [found] = await queryable.run<StoredAnswer & { claimed: boolean; answer: Buffer | null }>(CLAIM, values);
  if (found?.claimed) return 'claimed';
  if (!found?.answer) return 'under-way';
  const { answer, sealedFormat, claim: claimed } = found;
  return { answer, sealedFormat, claim: claimed };
}

const STORE: Statement = {
  name: 'store-idempotent-answer',
  text: `
    update idempotent_answers a
    set answer = $5, expires_at = now() + make_interval(secs => $6), sealed_format = ${SEALED_FORMAT}
    where ${IN_SLOT} and a.claim = $4 and a.answer is null
    returning a.claim`,
};

/** Stores the sealed answer of an attempt. False where its slot is another's by now, or gone. */
export async function storeAnswer(
  queryable: Queryable,
  claim: Claim,
  answer: Buffer,
  retentionSeconds: number,
): Promise<boolean> {
  const values = [...slotValues(claim), claim.claim, answer, retentionSeconds];
  return (await queryable.run(STORE, values)).length > 0;
}

const RELEASE: Statement = {
  name: 'release-idempotency-key',
  text: `delete from idempotent_answers a where ${IN_SLOT} and a.claim = $4`,
};

/** Frees the slot of an attempt that came to nothing. */
export async function releaseSlot(queryable: Queryable, claim: Claim): Promise<void> {
  await queryable.run(RELEASE, [...slotValues(claim), claim.claim]);
}
