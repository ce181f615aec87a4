import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../../src/data/database.ts';
import { insertLink, listLinks } from '../../../src/data/log-links.ts';
import { insertLogs } from '../../../src/data/logs.ts';
import { insertToken } from '../../../src/data/token-inserts.ts';
import type { ChainHead } from '../../../src/domain/audit-chain.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { createAnchors } from '../../../src/services/audit-chain/anchors.ts';
import { createLinker, type Linker } from '../../../src/services/audit-chain/linker.ts';
import { verifyAuditChain } from '../../../src/services/audit-chain/verify.ts';
import { silentLogger, type Logger } from '../../../src/platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, newToken, storedTenant } from '../../support/rows.ts';

describe('the chain of the audit log', () => {
  let test: TestDatabase;
  let folder: string;
  let keyManagement: KeyManagement;
  let tenantId: string;
  let lines: { message: string; fields: Record<string, unknown> }[];
  let logger: Logger;

  beforeEach(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyManagement = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
    tenantId = await storedTenant(test.database);
    lines = [];
    const keep = (fields: object, message: string) => void lines.push({ message, fields: { ...fields } });
    logger = { ...silentLogger, info: keep, error: keep };
  });
  afterEach(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const linkerOver = (database: Database = test.maintenance): Linker => createLinker({ database, logger });
  const anchorsOf = (linker: Linker, management = keyManagement) =>
    createAnchors({ database: test.maintenance, keyManagement: management, linker, logger });
  const write = (entityId = 'x') => insertLogs(test.database, [newLog(tenantId, entityId)]);
  const count = async (text: string): Promise<number> => {
    const [row] = await test.database.run<{ count: number }>({ text: `select (${text})::integer as count` });
    return row!.count;
  };
  const verify = () => verifyAuditChain({ database: test.database, keyManagement });
  const chains = () =>
    test.database.run<Omit<ChainHead, 'hash' | 'n'>>({ text: 'select distinct hour, writer from log_links' });

  describe('queues', () => {
    it('what a statement writes in the middle of another one', async () => {
      const token = newToken(tenantId);
      expect(await insertToken(test.database, token, newLog(tenantId, token.id))).to.equal('created');
      expect(await count('select sum(entries) from log_unlinked')).to.equal(1);
    });

    it('nothing where no entry was written, or where it was rolled back', async () => {
      const token = newToken(tenantId);
      await insertToken(test.database, token, newLog(tenantId, token.id));
      expect(await insertToken(test.database, token, newLog(tenantId, token.id))).to.equal('id-taken');
      const undone = new Error('undone');
      await test.database
        .transaction(async (transaction) => {
          await insertLogs(transaction, [newLog(tenantId, 'x')]);
          throw undone;
        })
        .catch((error: unknown) => expect(error).to.equal(undone));
      expect(await count('select sum(entries) from log_unlinked')).to.equal(1);
    });

    it('as a writer who may not touch the queue', async () => {
      const refused = await test.api.run({ text: 'delete from log_unlinked' }).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(DomainError);
    });
  });

  describe('links', () => {
    it('what waits, once, each link after the one before', async () => {
      const linker = linkerOver();
      expect(await linker.linkOnce()).to.equal(0);
      for (const expected of [1, 2]) {
        for (let entry = 0; entry < expected; entry++) await write();
        expect(await linker.linkOnce()).to.equal(expected);
      }
      const [chain] = await chains();
      const [first, second] = await listLinks(test.database, chain!, { after: 0, limit: 10 });
      expect(second!.previous).to.deep.equal(first!.hash);
      expect((await verify()).fault).to.equal(undefined);
    });

    it('an entry that was altered before it was linked as it is then', async () => {
      await write();
      await test.database.run({ text: `update logs set message = 'altered'` });
      await linkerOver().linkOnce();
      expect((await verify()).fault).to.equal(undefined);
    });

    it('what was gone before it could be linked, as missing', async () => {
      await write();
      await test.database.run({ text: 'delete from logs' });
      expect(await linkerOver().linkOnce()).to.equal(1);
      expect((await verify()).fault).to.include({ kind: 'missing', n: 1 });
    });

    it('what was inserted long after the time that it bears, as backdated', async () => {
      await linkerOver().linkOnce();
      await test.database.run({ text: `update log_horizon set oldest = now() - interval '2 days'` });
      const entry = newLog(tenantId, 'x', { createdAt: new Date(Date.now() - 3_600_000) });
      await insertLogs(test.database, [entry]);
      await linkerOver().linkOnce();
      const { fault } = await verify();
      expect(fault).to.include({ kind: 'backdated' });
      expect(fault!.entry!.id).to.equal(entry.id);
    });

    it('on where a link was committed without its being told', async () => {
      let isLost = true;
      const linker = linkerOver({
        ...test.maintenance,
        async transaction(work) {
          const result = await test.maintenance.transaction(work);
          if (!isLost) return result;
          isLost = false;
          throw new DomainError('unavailable', 'the connection to Postgres was lost');
        },
      });
      await write();
      expect(await linker.linkOnce().catch((error: unknown) => error)).to.be.instanceOf(DomainError);
      await write();
      expect(await linker.linkOnce()).to.equal(1);
      expect(await chains()).to.have.length(1);
      expect((await verify()).fault).to.equal(undefined);
    });

    it('on in a chain of another name where a link may yet be committed', async () => {
      const late = Promise.withResolvers<void>();
      let committed: Promise<unknown> = Promise.resolve();
      let isLost = false;
      const linker = linkerOver({
        ...test.maintenance,
        async transaction(work) {
          if (!isLost) return test.maintenance.transaction(work);
          isLost = false;
          const made = Promise.withResolvers<void>();
          committed = test.maintenance.transaction(async (transaction) => {
            await work(transaction);
            made.resolve();
            await late.promise;
          });
          await made.promise;
          throw new DomainError('unavailable', 'the connection to Postgres was lost');
        },
      });
      await write();
      await linker.linkOnce();
      isLost = true;
      await write();
      expect(await linker.linkOnce().catch((error: unknown) => error)).to.be.instanceOf(DomainError);
      await write();
      expect(await linker.linkOnce()).to.equal(1);
      late.resolve();
      await committed;
      expect(await chains()).to.have.length(2);
      expect((await verify()).fault).to.equal(undefined);
    });

    it('the heads of others, also where the link that was to state them came to nothing', async () => {
      const other = linkerOver();
      await write();
      await other.linkOnce();
      await anchorsOf(other).anchor();
      let fails = true;
      const linker = linkerOver({
        ...test.maintenance,
        transaction: (work) =>
          test.maintenance.transaction(async (transaction) => {
            const result = await work(transaction);
            if (!fails) return result;
            fails = false;
            throw new DomainError('unavailable', 'the connection to Postgres was lost');
          }),
      });
      await write();
      expect(await linker.linkOnce().catch((error: unknown) => error)).to.be.instanceOf(DomainError);
      expect(await linker.linkOnce()).to.equal(1);
      await write();
      expect(await linker.linkOnce()).to.equal(1);
      const own = (await chains()).find(({ writer }) => writer === linker.writer);
      const links = await listLinks(test.database, own!, { after: 0, limit: 10 });
      const stated = links.map(({ witnessed }) => witnessed.map(({ writer }) => writer));
      expect(stated).to.deep.equal([[other.writer], []]);
    });

    it('on in a chain of another name where somebody else wrote to its own', async () => {
      const linker = linkerOver();
      await write();
      await linker.linkOnce();
      const [chain] = await chains();
      const [first] = await listLinks(test.database, chain!, { after: 0, limit: 1 });
      await insertLink(test.database, { ...first!, n: 2 });
      await write();
      expect(await linker.linkOnce().catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await linker.linkOnce()).to.equal(1);
      expect(await chains()).to.have.length(2);
      expect(lines.map(({ message }) => message)).to.include('Audit chain was written to by another');
      expect((await verify()).fault).to.include({ kind: 'link altered', n: 2 });
    });
  });

  describe('anchors', () => {
    it('each new head once, in the log and sealed', async () => {
      const linker = linkerOver();
      const anchors = anchorsOf(linker);
      await write();
      await linker.linkOnce();
      await anchors.anchor();
      await anchors.anchor();
      const told = lines.filter(({ message }) => message === 'Audit chain head');
      expect(told).to.have.length(1);
      expect(told[0]!.fields).to.have.all.keys('writer', 'hour', 'n', 'hash');
      expect(await count('select count(*) from log_heads')).to.equal(1);
      expect(await verify()).to.include({ fault: undefined, unsealed: 0 });
    });

    it('in the log alone while the key management is away, and sealed later', async () => {
      const linker = linkerOver();
      let isAway = true;
      const management: KeyManagement = {
        ...keyManagement,
        async authenticate(message) {
          if (isAway) throw new DomainError('unavailable', 'Vault is sealed');
          return keyManagement.authenticate(message);
        },
      };
      const anchors = anchorsOf(linker, management);
      await write();
      await linker.linkOnce();
      expect(await anchors.anchor().catch((error: unknown) => error)).to.be.instanceOf(DomainError);
      expect(lines).to.have.length(1);
      expect(await verify()).to.include({ fault: undefined, unsealed: 1 });
      isAway = false;
      await anchors.anchor();
      expect(lines).to.have.length(1);
      expect(await verify()).to.include({ fault: undefined, unsealed: 0 });
    });

    it('the end of a chain whose writer has ended long ago', async () => {
      const gone = linkerOver();
      await write();
      await gone.linkOnce();
      const survivor = linkerOver();
      await anchorsOf(survivor).anchor();
      expect(await count('select count(*) from log_heads')).to.equal(0);
      // To be found abandoned, the link has to be old; this is what an hour of waiting does.
      await test.database.run({ text: `update log_links set linked_at = linked_at - interval '1 hour'` });
      await anchorsOf(survivor).anchor();
      const heads = await test.database.run({ text: 'select writer, sealed_by as "sealedBy" from log_heads' });
      expect(heads).to.deep.equal([{ writer: gone.writer, sealedBy: survivor.writer }]);
    });
  });

  it('tells what waits to be linked', async () => {
    await linkerOver().linkOnce();
    await insertLogs(test.database, [newLog(tenantId, 'x'), newLog(tenantId, 'y')]);
    const { fault, queue } = await verify();
    expect(fault).to.equal(undefined);
    expect(queue.entries).to.equal(2);
    expect(queue.since).to.be.instanceOf(Date);
  });

  it('holds heads of the key management before an import against their links, and does not check their seals', async () => {
    const linker = linkerOver();
    await write();
    await linker.linkOnce();
    await anchorsOf(linker).anchor();
    const afterImport = { ...keyManagement, name: 'vault' as const, verifies: async () => false };
    const verification = await verifyAuditChain({ database: test.database, keyManagement: afterImport });
    expect(verification).to.include({ fault: undefined, foreignHeads: 1, unsealed: 1 });
  });
});
