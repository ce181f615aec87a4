import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { findTokenByFingerprint, insertToken, insertTokenOnce } from '../../../src/data/token-inserts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, newLog, newToken } from '../../support/rows.ts';

describe('deduplication of tokens in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;
  const fingerprint = Buffer.from('fingerprint');

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(() => {
    tenantId = randomUUID();
  });

  const insertOnce = (overrides: Parameters<typeof newToken>[1] = {}) => {
    const token = { ...newToken(tenantId, overrides), fingerprint };
    return insertTokenOnce(test.database, token, newLog(token.tenantId, token.id));
  };

  it('lets one of many through that come at the same time, and gives the others that one', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => insertOnce()));
    expect(outcomes.filter(({ outcome }) => outcome === 'created')).to.have.length(1);
    const existing = outcomes.flatMap((result) => (result.outcome === 'existing' ? [result.token.id] : []));
    expect(existing).to.have.length(19);
    expect(new Set(existing).size).to.equal(1);
  });

  it('keeps types and tenants apart', async () => {
    await insertOnce({ type: 'card' });
    expect(await insertOnce({ type: 'token' })).to.deep.equal({ outcome: 'created' });
    expect(await insertOnce({ type: 'card', tenantId: randomUUID() })).to.deep.equal({ outcome: 'created' });
    expect(await insertOnce({ type: 'card' })).to.have.property('outcome', 'existing');
  });

  it('does not give back an expired token', async () => {
    await insertOnce({ expiresAt: EARLIER() });
    expect(await insertOnce()).to.deep.equal({ outcome: 'created' });
  });

  it('says where the id of a new token is taken', async () => {
    await insertToken(test.database, newToken(tenantId, { id: 'taken' }), newLog(tenantId, 'taken'));
    expect(await insertOnce({ id: 'taken' })).to.deep.equal({ outcome: 'id-taken' });
  });

  it('gives the oldest where there are several', async () => {
    const older = newToken(tenantId, { id: 'older', fingerprint, createdAt: new Date(Date.now() - 1000) });
    for (const token of [newToken(tenantId, { fingerprint }), older]) {
      await insertToken(test.database, token, newLog(tenantId, token.id));
    }
    expect(await findTokenByFingerprint(test.database, tenantId, 'token', fingerprint)).to.have.property('id', 'older');
    expect(await findTokenByFingerprint(test.database, tenantId, 'card', fingerprint)).to.equal(undefined);
  });
});
