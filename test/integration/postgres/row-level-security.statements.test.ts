import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  deleteApplication,
  getApplication,
  pageOfApplications,
  replaceApplication,
  upsertApplication,
} from '../../../src/data/applications.ts';
import {
  deleteApplicationKey,
  getApplicationKey,
  insertApplicationKey,
  listApplicationKeys,
} from '../../../src/data/application-keys.ts';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import type { Database } from '../../../src/data/database.ts';
import { setDeclaredKeys } from '../../../src/data/declared-keys.ts';
import { claimSlot } from '../../../src/data/idempotent-answers.ts';
import { removeAnswersOf } from '../../../src/data/idempotent-answer-removal.ts';
import { claimInvocation } from '../../../src/data/invocation-claims.ts';
import { beginInvocation } from '../../../src/data/invocation-progress.ts';
import { getInvocation, insertInvocation } from '../../../src/data/invocations.ts';
import { insertLogs, listLogs } from '../../../src/data/logs.ts';
import {
  deleteReactor,
  getReactor,
  insertReactor,
  listAllReactors,
  pageOfReactors,
} from '../../../src/data/reactors.ts';
import { authorizeSession, findSessionByNonce } from '../../../src/data/sessions.ts';
import { deleteTenant } from '../../../src/data/tenant-deletion.ts';
import { changeTenant, getTenant } from '../../../src/data/tenants.ts';
import { countTokens } from '../../../src/data/token-counts.ts';
import { findTokenByFingerprint, insertTokens } from '../../../src/data/token-inserts.ts';
import { listTokens, pageOfTokens } from '../../../src/data/token-lists.ts';
import { searchTokens } from '../../../src/data/token-search.ts';
import { deleteToken, findToken, findTokens } from '../../../src/data/tokens.ts';
import { insertWebhookSecret, listWebhookSecrets, rotateWebhookSecret } from '../../../src/data/webhook-secrets.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  LATER,
  newApplication,
  newApplicationKey,
  newInvocation,
  newLog,
  newReactor,
  newSlot,
  newToken,
} from '../../support/rows.ts';
import { type StoredRows, storeRowInEachTable } from '../../support/stored-rows.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

const PAGE = { page: 1, size: 10 };

/** What a mistake in a service would be: each is asked for with ids of another tenant, which is that of `rows`. */
const READS: Record<string, (on: Database, rows: StoredRows) => Promise<unknown>> = {
  'a tenant': (on, { tenantId }) => getTenant(on, tenantId),
  'an application': (on, { tenantId, applicationId }) => getApplication(on, tenantId, applicationId),
  applications: async (on, { tenantId }) => (await pageOfApplications(on, { tenantId }, PAGE)).rows,
  'the number of applications': async (on, { tenantId }) => (await pageOfApplications(on, { tenantId }, PAGE)).total,
  'a key': (on, { tenantId, applicationId, keyId }) => getApplicationKey(on, tenantId, applicationId, keyId),
  keys: (on, { tenantId, applicationId }) => listApplicationKeys(on, tenantId, [applicationId]),
  'a session': (on, { tenantId, nonceDigest }) => findSessionByNonce(on, tenantId, nonceDigest),
  'a data key': (on, { tenantId, dataKeyId }) => createDataKeyStore(on).find(tenantId, dataKeyId),
  'the active data key': (on, { tenantId }) => createDataKeyStore(on).findActive(tenantId, 'data'),
  'a token': (on, { tenantId, tokenId }) => findToken(on, tenantId, tokenId),
  'tokens by id': (on, { tenantId, tokenId }) => findTokens(on, tenantId, [tokenId]),
  'a token by fingerprint': (on, { tenantId, searchHash }) => findTokenByFingerprint(on, tenantId, 'token', searchHash),
  tokens: (on, { tenantId }) => listTokens(on, { tenantId, scopes: 'all' }, { limit: 10 }),
  'tokens by metadata': async (on, { tenantId }) =>
    (await pageOfTokens(on, { tenantId, scopes: 'all', metadata: { color: 'blue' } }, PAGE)).rows,
  'the number of tokens': (on, { tenantId }) => countTokens(on, { tenantId, scopes: 'all' }),
  'the number of tokens with metadata': (on, { tenantId }) =>
    countTokens(on, { tenantId, scopes: 'all', metadata: { color: 'blue' } }),
  'tokens by search': async (on, { tenantId, searchHash }) => {
    const alternatives = [
      [{ test: { field: 'data', hash: searchHash }, isNegated: false }],
      [{ test: { field: 'metadata', key: 'color', value: 'blue' }, isNegated: false }],
      [],
    ] as const;
    const access = { granted: ['all' as const], dataSearchable: [] };
    return (await searchTokens(on, { tenantId, access, alternatives }, { limit: 10, reach: 100 })).rows;
  },
  'a reactor': (on, { tenantId, reactorId }) => getReactor(on, tenantId, reactorId),
  reactors: async (on, { tenantId }) => (await pageOfReactors(on, { tenantId }, PAGE)).rows,
  'an invocation': (on, { invocation }) => getInvocation(on, invocation),
  'webhook secrets': (on, { tenantId }) => listWebhookSecrets(on, tenantId),
  'log entries': (on, { tenantId }) => listLogs(on, { tenantId, retentionSeconds: 60, limit: 10 }),
};

const application = ({ tenantId, applicationId: id }: StoredRows) => ({
  ...newApplication(tenantId, { id, permissions: ['token:read', 'application:read'] }),
  ...{ modifiedBy: null, modifiedAt: new Date() },
});

/** Changes of what is there. */
const CHANGES: Record<string, (on: Database, rows: StoredRows, log: ReturnType<typeof newLog>) => Promise<unknown>> = {
  'change a tenant': (on, { tenantId }, log) => changeTenant(on, tenantId, (tenant) => tenant, log),
  'delete a tenant': (on, { tenantId }) => deleteTenant({ database: on, maintenance: on }, tenantId),
  'replace an application': (on, rows, log) => replaceApplication(on, application(rows), log),
  'put an application': (on, rows, log) => upsertApplication(on, application(rows), [log]),
  'delete an application': (on, { tenantId, applicationId }, log) =>
    deleteApplication(on, tenantId, applicationId, log),
  'delete a key': (on, { tenantId, applicationId, keyId }, log) =>
    deleteApplicationKey(on, tenantId, applicationId, keyId, log),
  'add a key': (on, { tenantId, applicationId }, log) =>
    insertApplicationKey(on, newApplicationKey(tenantId, applicationId), log),
  'declare keys': (on, { tenantId, applicationId }, log) =>
    setDeclaredKeys(
      on,
      { tenantId, id: applicationId },
      [{ id: randomUUID(), digest: 'ab'.repeat(32) }],
      () => log,
      new Date(),
    ),
  'authorize a session': (on, { tenantId, sessionId, applicationId }, log) => {
    const grant = { authorizedBy: applicationId, permissions: [], rules: [], expiresAt: LATER() };
    return authorizeSession(on, tenantId, sessionId, grant, log);
  },
  'use a data key': (on, { tenantId, dataKeyId }) => createDataKeyStore(on).reserveUses(tenantId, dataKeyId, 1, 100),
  'store a token': (on, { tenantId }) => insertTokens(on, [newToken(tenantId)], []),
  'store a token under an id that is taken': (on, { tenantId, tokenId }) =>
    insertTokens(on, [newToken(tenantId, { id: tokenId })], []),
  'delete a token': async (on, { tenantId, tokenId: id }, log) =>
    deleteToken(on, { tenantId, id, container: '/general/high/', createdAt: new Date() }, log),
  'store a reactor': (on, { tenantId }, log) => insertReactor(on, newReactor(tenantId), log),
  'delete a reactor': (on, { tenantId, reactorId }, log) => deleteReactor(on, tenantId, reactorId, log),
  'accept an invocation': (on, { tenantId }, log) => insertInvocation(on, newInvocation(tenantId), 10, log),
  'claim an invocation': (on) =>
    claimInvocation(on, {
      ...{ stage: 'run', lease: randomUUID(), leaseSeconds: 60, busyTenants: [], busyReactors: [] },
    }),
  'begin an invocation': (on, { invocation }) => beginInvocation(on, { ...invocation, lease: randomUUID() }, 60),
  'make a webhook secret': (on, { tenantId }) =>
    insertWebhookSecret(on, { tenantId, id: randomUUID(), secret: Buffer.from('forged') }),
  'rotate a webhook secret': (on, { tenantId }, log) =>
    rotateWebhookSecret(on, { tenantId, id: randomUUID(), secret: Buffer.from('forged') }, 60, log),
  'claim an idempotency key': (on, { tenantId }) => claimSlot(on, { ...newSlot(tenantId), claim: randomUUID() }, 60),
  'remove kept answers': (on, { tenantId, applicationId }) => removeAnswersOf(on, { tenantId, applicationId }, 100),
  'write to the log': (on, { tenantId }) => insertLogs(on, [newLog(tenantId, 'forged')]),
};

describe('statements of the vault that ask for another tenant than they are run for', () => {
  let test: TestDatabase;
  let own: StoredRows;
  let foreign: StoredRows;

  before(async () => {
    test = await createTestDatabase();
    [own, foreign] = [await storeRowInEachTable(test.database), await storeRowInEachTable(test.database)];
  });
  after(() => test.dispose());

  const within = ({ tenantId }: StoredRows): Database => databaseWithin(tenantId, test.api);

  /** Everything that is stored of the tenant, counted. */
  async function contents({ tenantId }: StoredRows): Promise<unknown> {
    const tables = ['tenants', 'applications', 'application_keys', 'sessions', 'data_keys', 'tokens', 'token_cvcs'];
    const others = [
      'token_search_hashes',
      'reactors',
      'idempotent_answers',
      'logs',
      'token_count_changes',
      'reactor_invocations',
      'webhook_secrets',
    ];
    const text = [...tables, ...others]
      .map(
        (table) => `select '${table}' as name, jsonb_agg(to_jsonb(t) order by t::text) as rows from ${table} t
        where tenant_id = $1`,
      )
      .join(' union all ');
    return test.database.run({ text }, [tenantId]);
  }

  for (const [name, read] of Object.entries(READS)) {
    it(`find nothing: ${name}`, async () => {
      const amount = (found: unknown): unknown => (Array.isArray(found) ? found.length : (found ?? 0));
      expect(amount(await read(within(foreign), foreign)), 'of its own').not.to.equal(0);
      for (const database of [within(own), test.api]) expect(amount(await read(database, foreign))).to.equal(0);
    });
  }

  for (const [name, change] of Object.entries(CHANGES)) {
    it(`change nothing: ${name}`, async () => {
      const before = await contents(foreign);
      for (const database of [within(own), test.api]) {
        const log = newLog(own.tenantId, 'forged');
        const error = await change(database, foreign, log).then(
          () => undefined,
          (caught: unknown) => caught,
        );
        // Where it is not simply without effect, it is refused as what the role may not do.
        if (error !== undefined) expect(error).to.be.an.instanceOf(DomainError).with.property('kind', 'unavailable');
      }
      expect(await contents(foreign)).to.deep.equal(before);
    });
  }

  it('of all tenants, which the control plane asks for, are the work of the sweeper', async () => {
    const tenants = async (on: Database) => new Set((await listAllReactors(on)).map(({ tenantId }) => tenantId));
    expect(await tenants(within(own))).to.deep.equal(new Set([own.tenantId]));
    expect(await tenants(test.maintenance)).to.deep.equal(new Set([own.tenantId, foreign.tenantId]));
  });
});
