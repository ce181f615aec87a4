import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listLogs } from '../../../src/data/logs.ts';
import { insertToken, insertTokens } from '../../../src/data/token-inserts.ts';
import { deleteToken, findToken, findTokens, updateToken, type TokenChange } from '../../../src/data/tokens.ts';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, LATER, newLog, newToken } from '../../support/rows.ts';

describe('tokens in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(() => {
    tenantId = randomUUID();
  });

  const operations = async (): Promise<string[]> =>
    (await listLogs(test.database, { tenantId, retentionSeconds: 3600, limit: 100 })).map(
      ({ operation, entityId }) => `${operation} ${entityId}`,
    );

  async function hashesOf(id: string): Promise<string[]> {
    const rows = await test.database.run<{ hash: Buffer }>(
      { text: 'select hash from token_search_hashes where tenant_id = $1 and token_id = $2 order by hash' },
      [tenantId, id],
    );
    return rows.map(({ hash }) => hash.toString());
  }

  it('come back as they were stored', async () => {
    const token = newToken(tenantId, {
      id: `odd "id" {},' \\ ü`.replaceAll(/[{}\\]/g, ''),
      mask: Buffer.from('mask'),
      metadata: { Color: 'Blue "x"', __proto__x: '\\' },
      searchIndexes: ['{{ data }}', '{{ data | last4 }}'],
      fingerprint: Buffer.from('fingerprint'),
      fingerprintExpression: '{{ data.number }}',
      expiresAt: LATER(),
      cvc: { sealed: Buffer.from('sealed cvc'), expiresAt: LATER() },
    });
    expect(await insertToken(test.database, token, newLog(tenantId, token.id))).to.equal('created');
    const { searchHashes: _hashes, cvc, ...stored } = token;
    expect(await findToken(test.database, tenantId, token.id)).to.deep.equal({
      ...stored,
      sealedFormat: SEALED_FORMAT,
      cvc: cvc!.sealed,
      cvcExpiresAt: cvc!.expiresAt,
      cvcFormat: SEALED_FORMAT,
      modifiedBy: null,
      modifiedAt: null,
      version: 1,
    });
    expect(await operations()).to.deep.equal([`create ${token.id}`]);
  });

  it('refuse an id that is taken, with nothing changed or logged', async () => {
    const token = newToken(tenantId, { data: Buffer.from('first') });
    await insertToken(test.database, token, newLog(tenantId, token.id));
    const second = { ...token, data: Buffer.from('second'), searchHashes: [Buffer.from('h')] };
    expect(await insertToken(test.database, second, newLog(tenantId, token.id))).to.equal('id-taken');
    expect((await findToken(test.database, tenantId, token.id))?.data.toString()).to.equal('first');
    expect(await hashesOf(token.id)).to.deep.equal([]);
    expect(await operations()).to.have.length(1);
  });

  it('may have the same id in two tenants', async () => {
    const [mine, theirs] = [newToken(tenantId, { id: 'same' }), newToken(randomUUID(), { id: 'same' })];
    const logs = [newLog(tenantId, 'same'), newLog(theirs.tenantId, 'same')];
    expect(await insertTokens(test.database, [mine, theirs], logs)).to.deep.equal([]);
    await deleteToken(test.database, mine, newLog(tenantId, 'same', { operation: 'delete' }));
    expect(await findToken(test.database, theirs.tenantId, 'same')).not.to.equal(undefined);
  });

  it('are inserted many at once, each with its own hashes, code and log entry', async () => {
    const tokens = Array.from({ length: 50 }, (_, index) =>
      newToken(tenantId, {
        id: `token-${index}`,
        searchHashes: [Buffer.from(`hash-${index}`), Buffer.from('shared'), Buffer.from('shared')],
        searchIndexes: index % 2 === 0 ? ['a', 'b'] : null,
        cvc: index === 7 ? { sealed: Buffer.from('seven'), expiresAt: LATER() } : null,
      }),
    );
    const logs = tokens.map((token) => newLog(tenantId, token.id));
    expect(await insertTokens(test.database, tokens, logs)).to.deep.equal([]);
    expect(await hashesOf('token-3')).to.deep.equal(['hash-3', 'shared']);
    expect((await findToken(test.database, tenantId, 'token-7'))?.cvc?.toString()).to.equal('seven');
    expect((await findToken(test.database, tenantId, 'token-8'))?.cvc).to.equal(null);
    expect(await operations()).to.have.length(50);
  });

  it('name those of many whose id was taken, twice in one request too', async () => {
    await insertToken(test.database, newToken(tenantId, { id: 'taken' }), newLog(tenantId, 'taken'));
    const tokens = ['taken', 'free', 'free'].map((id) => newToken(tenantId, { id }));
    const refused = await insertTokens(test.database, tokens, [newLog(tenantId, 'free')]);
    expect(refused).to.deep.equal([tokens[0], tokens[2]]);
  });

  it('are all or none within a transaction that gives up', async () => {
    const outcome = test.database.transaction(async (transaction) => {
      await insertToken(transaction, newToken(tenantId, { id: 'gone' }), newLog(tenantId, 'gone'));
      throw new RangeError('given up');
    });
    expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
    expect(await findToken(test.database, tenantId, 'gone')).to.equal(undefined);
    expect(await operations()).to.deep.equal([]);
  });

  it('are unreadable from the moment they expire, and their codes too', async () => {
    const expired = newToken(tenantId, { id: 'expired', expiresAt: EARLIER() });
    const coded = newToken(tenantId, { id: 'coded', cvc: { sealed: Buffer.from('x'), expiresAt: EARLIER() } });
    await insertTokens(test.database, [expired, coded, newToken(tenantId, { id: 'live' })], []);
    const found = await findTokens(test.database, tenantId, ['expired', 'coded', 'live', 'never']);
    expect(found.map(({ id }) => id).sort()).to.deep.equal(['coded', 'live']);
    expect(found.find(({ id }) => id === 'coded')?.cvc).to.equal(null);
    expect(await findToken(test.database, tenantId, 'expired')).to.equal(undefined);
  });

  describe('updated', () => {
    const change = (overrides: Partial<TokenChange> = {}): TokenChange => ({
      type: 'token',
      container: '/pii/high/',
      data: Buffer.from('new data'),
      mask: null,
      metadata: { a: 'b' },
      searchIndexes: null,
      searchHashes: [],
      fingerprint: null,
      fingerprintExpression: null,
      expiresAt: null,
      modifiedBy: randomUUID(),
      modifiedAt: new Date(),
      ...overrides,
    });
    const update = (version: number, overrides: Partial<TokenChange> = {}) =>
      updateToken(
        test.database,
        { tenantId, id: 'token', version, createdAt },
        change(overrides),
        newLog(tenantId, 'token', { operation: 'update' }),
      );

    let createdAt: Date;
    beforeEach(async () => {
      createdAt = new Date();
      const searchHashes = [Buffer.from('h1'), Buffer.from('h2')];
      const cvc = { sealed: Buffer.from('cvc'), expiresAt: LATER() };
      await insertToken(
        test.database,
        newToken(tenantId, { id: 'token', searchHashes, cvc, createdAt }),
        newLog(tenantId, 'token'),
      );
    });

    it('carry what was changed, the next version, and a log entry', async () => {
      expect(await update(1)).to.equal(true);
      const token = await findToken(test.database, tenantId, 'token');
      expect(token).to.include({ container: '/pii/high/', version: 2 });
      expect(token?.data.toString()).to.equal('new data');
      expect((await operations())[0]).to.equal('update token');
    });

    it('refuse an update that is based on an older version, with nothing logged', async () => {
      await update(1);
      expect(await update(1, { data: Buffer.from('lost') })).to.equal(false);
      expect((await findToken(test.database, tenantId, 'token'))?.data.toString()).to.equal('new data');
      expect(await operations()).to.have.length(2);
    });

    it('refuse an update that is based on a token whose id was taken by another one since', async () => {
      createdAt = new Date(createdAt.getTime() - 1);
      expect(await update(1)).to.equal(false);
      expect(await operations()).to.have.length(1);
    });

    it('let one of many updates of the same version through', async () => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => update(1)));
      expect(outcomes.filter(Boolean)).to.have.length(1);
    });

    it('have exactly the new hashes', async () => {
      await update(1, { searchHashes: ['h2', 'h3', 'h3'].map((hash) => Buffer.from(hash)) });
      expect(await hashesOf('token')).to.deep.equal(['h2', 'h3']);
      await update(2, { searchHashes: [] });
      expect(await hashesOf('token')).to.deep.equal([]);
    });

    it('keep, replace or lose the code as asked', async () => {
      const cvc = async () => (await findToken(test.database, tenantId, 'token'))?.cvc?.toString();
      await update(1);
      expect(await cvc()).to.equal('cvc');
      await update(2, { cvc: { sealed: Buffer.from('other'), expiresAt: LATER() } });
      expect(await cvc()).to.equal('other');
      await update(3, { cvc: null });
      expect(await cvc()).to.equal(undefined);
      await update(4, { cvc: { sealed: Buffer.from('back'), expiresAt: LATER() } });
      expect(await cvc()).to.equal('back');
    });
  });

  it('are deleted with their hashes and code, once', async () => {
    const token = newToken(tenantId, {
      searchHashes: [Buffer.from('h')],
      cvc: { sealed: Buffer.from('c'), expiresAt: LATER() },
    });
    await insertToken(test.database, token, newLog(tenantId, token.id));
    const remove = () => deleteToken(test.database, token, newLog(tenantId, token.id, { operation: 'delete' }));
    expect(await remove()).to.equal(true);
    expect(await remove()).to.equal(false);
    expect(await findToken(test.database, tenantId, token.id)).to.equal(undefined);
    expect(await hashesOf(token.id)).to.deep.equal([]);
    expect((await operations()).filter((line) => line.startsWith('delete'))).to.have.length(1);
  });

  it('are not deleted on what was decided about another container, or a token of that id before', async () => {
    const token = newToken(tenantId);
    await insertToken(test.database, token, newLog(tenantId, token.id));
    const earlier = new Date(token.createdAt.getTime() - 1);
    for (const judged of [{ container: '/pci/high/' }, { createdAt: earlier }]) {
      const log = newLog(tenantId, token.id, { operation: 'delete' });
      expect(await deleteToken(test.database, { ...token, ...judged }, log)).to.equal(false);
    }
    expect(await findToken(test.database, tenantId, token.id)).not.to.equal(undefined);
    expect(await operations()).to.have.length(1);
  });

  it('that have expired do not exist for a delete', async () => {
    const token = newToken(tenantId, { expiresAt: EARLIER() });
    await insertToken(test.database, token, newLog(tenantId, token.id));
    expect(await deleteToken(test.database, token, newLog(tenantId, token.id))).to.equal(false);
    expect(await operations()).to.have.length(1);
  });
});
