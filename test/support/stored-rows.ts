import { randomBytes, randomUUID } from 'node:crypto';
import { insertApplication } from '../../src/data/applications.ts';
import { insertApplicationKey } from '../../src/data/application-keys.ts';
import { createDataKeyStore } from '../../src/data/data-keys.ts';
import type { Database } from '../../src/data/database.ts';
import { claimSlot } from '../../src/data/idempotent-answers.ts';
import { insertInvocation, type InvocationKey } from '../../src/data/invocations.ts';
import { insertLogs } from '../../src/data/logs.ts';
import { insertReactor } from '../../src/data/reactors.ts';
import { insertSession } from '../../src/data/sessions.ts';
import { foldTokenCounts } from '../../src/data/token-counts.ts';
import { insertTokens } from '../../src/data/token-inserts.ts';
import { insertWebhookSecret } from '../../src/data/webhook-secrets.ts';
import {
  LATER,
  newApplication,
  newApplicationKey,
  newInvocation,
  newLog,
  newReactor,
  newSlot,
  newToken,
  storedTenant,
} from './rows.ts';

/** What a tenant has, one of each, as its ids. */
export interface StoredRows {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly keyDigest: string;
  readonly sessionId: string;
  readonly sessionKeyDigest: string;
  readonly nonceDigest: string;
  readonly dataKeyId: string;
  readonly tokenId: string;
  readonly searchHash: Buffer;
  readonly reactorId: string;
  readonly invocation: InvocationKey;
  readonly logId: string;
}

const digest = (): string => randomBytes(32).toString('hex');

/** Stores, as the owner, a tenant that has a row in every table. */
export async function storeRowInEachTable(owner: Database): Promise<StoredRows> {
  const tenantId = await storedTenant(owner);
  const application = newApplication(tenantId);
  const key = newApplicationKey(tenantId, application.id);
  const [keyDigest, nonceDigest] = [digest(), digest()];
  const session = {
    ...{ tenantId, id: randomUUID(), applicationId: application.id, keyDigest, nonceDigest },
    ...{ createdAt: new Date(), expiresAt: LATER() },
  };
  const searchHash = randomBytes(32);
  const tokens = [1, 2].map(() =>
    newToken(tenantId, {
      ...{ searchHashes: [searchHash], fingerprint: searchHash, metadata: { color: 'blue' } },
      cvc: { sealed: Buffer.from('sealed code'), expiresAt: LATER() },
    }),
  );
  const reactor = newReactor(tenantId);
  const log = newLog(tenantId, tokens[0]!.id);
  const dataKeyId = randomUUID();
  await insertApplication(owner, application, newLog(tenantId, application.id));
  await insertApplicationKey(owner, key, newLog(tenantId, key.id));
  await insertSession(owner, session, newLog(tenantId, session.id));
  await createDataKeyStore(owner).activate({
    ...{ tenantId, id: dataKeyId, purpose: 'data', wrapped: 'keyring:v1:dw==', createdAt: new Date(), uses: 0 },
    destroyAt: null,
  });
  // Of one the change is summed up, of the other it waits.
  await insertTokens(owner, tokens.slice(0, 1), []);
  await foldTokenCounts(owner, 1_000);
  await insertTokens(owner, tokens.slice(1), []);
  await insertReactor(owner, reactor, newLog(tenantId, reactor.id));
  await claimSlot(owner, { ...newSlot(tenantId), claim: randomUUID() }, 600);
  const invocation = newInvocation(tenantId);
  await insertInvocation(owner, invocation, 10, newLog(tenantId, invocation.reactorId));
  await insertWebhookSecret(owner, { tenantId, id: randomUUID(), secret: Buffer.from('sealed secret') });
  await insertLogs(owner, [log]);
  return {
    ...{ tenantId, applicationId: application.id, keyId: key.id, keyDigest: key.digest },
    ...{ sessionId: session.id, sessionKeyDigest: keyDigest, nonceDigest },
    ...{ dataKeyId, tokenId: tokens[0]!.id, searchHash, reactorId: reactor.id, logId: log.id, invocation },
  };
}
