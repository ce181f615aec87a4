import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import { findMasterKey } from '../../../src/data/master-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { CVC_KEYS_TURN, shredCvcKeys } from '../../../src/services/key-rotation/cvc-shredding.ts';
import { createSweeper } from '../../../src/services/sweeper.ts';
import { rulesFor } from '../../support/access.ts';
import {
  createPostgresArchive,
  type ArchivingPostgres,
  type Backup,
  type PostgresArchive,
} from '../../support/archiving-postgres.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2035 };

/** As three hours do, which is twice as long as any code or its key is kept here. */
const LET_TIME_PASS = [
  `update data_keys set created_at = created_at - interval '3 hours', destroy_at = destroy_at - interval '3 hours'`,
  `update token_cvcs set expires_at = expires_at - interval '3 hours'`,
];

for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`card verification codes under ${name}, past their retention`, () => {
    let keys: TestKeys;
    let archive: PostgresArchive;
    let server: ArchivingPostgres;
    let vault: TestVault;
    let backup: Backup;
    let key: string;
    /** Of cards with a code: the first is in the base backup, the second in the WAL alone. */
    const cardIds: string[] = [];
    let otherId: string;

    async function createToken(type: string, data: object | string, at = vault): Promise<string> {
      const { status, body } = await at.request('POST', '/tokens', { key, body: { type, data } });
      expect(status).to.equal(201);
      return body.id as string;
    }

    async function startOver(postgres: ArchivingPostgres): Promise<TestVault> {
      return startTestVault({ keyManagement: await keys.open(), openDatabase: () => postgres.openDatabase() });
    }

    async function withRestored<Result>(work: (restored: TestVault) => Promise<Result>): Promise<Result> {
      const recovered = await archive.restore(backup);
      const restored = await startOver(recovered);
      try {
        return await work(restored);
      } finally {
        await restored.stop();
        await recovered.stop();
      }
    }

    const read = (from: TestVault, id: string) => from.request('GET', `/tokens/${id}`, { key });

    /** What a process does every 30 s. */
    async function sweep(management: KeyManagement): Promise<void> {
      const { maintenance: database, sweeperConnectionString } = vault;
      const takeTurn = () => tryAdvisoryLock(sweeperConnectionString, CVC_KEYS_TURN);
      await createSweeper({
        ...{ database, logger: silentLogger, metrics: createMetrics() },
        dataKeys: { forget: () => undefined } as never,
        shredCvcKeys: () => shredCvcKeys({ database, management, takeTurn }),
      }).sweep();
    }

    before(async function () {
      keys = await create(this);
      this.timeout(120_000);
      archive = await createPostgresArchive();
      server = await archive.start();
      vault = await startOver(server);
      ({ key } = await vault.application({ rules: rulesFor({ '/': 'reveal' }, ['token:create', 'token:read']) }));
      cardIds.push(await createToken('card', { ...CARD, cvc: '987' }));
      otherId = await createToken('token', 'Jane Doe');
      const base = await server.takeBaseBackup();
      cardIds.push(await createToken('card', { ...CARD, cvc: '654' }));
      backup = await server.keepWal(base);
    });
    after(async function () {
      this.timeout(120_000);
      await vault?.stop();
      await archive?.dispose();
      await keys?.dispose();
    });

    it('come back from a base backup and WAL before that, which shows that these hold them', async function () {
      this.timeout(120_000);
      await withRestored(async (restored) => {
        const codes = await Promise.all(cardIds.map(async (id) => (await read(restored, id)).body.data.cvc as string));
        expect(codes).to.deep.equal(['987', '654']);
      });
    });

    it('are gone for good: of what is restored, all opens but them', async function () {
      this.timeout(120_000);
      for (const text of LET_TIME_PASS) await vault.database.run({ text });
      const management = await keys.open();
      const { current } = await management.versions('cvc');
      // Of all who sweep at once, one does it.
      await Promise.all([sweep(management), sweep(await keys.open()), sweep(await keys.open())]);
      await sweep(management);
      expect(await management.versions('cvc')).to.include({ current: current + 1, oldest: current + 1 });

      await withRestored(async (restored) => {
        const wrapped = await restored.database.run<{ tenantId: string; purpose: string; wrapped: string }>({
          text: 'select tenant_id as "tenantId", purpose, wrapped from data_keys',
        });
        expect(wrapped.map(({ purpose }) => purpose)).to.include.members(['cvc', 'data']);
        for (const { tenantId, purpose, wrapped: form } of wrapped) {
          const [outcome] = await Promise.allSettled([
            management.unwrapDataKey(purpose === 'cvc' ? 'cvc' : 'tokens', tenantId, form),
          ]);
          expect(outcome.status, purpose).to.equal(purpose === 'cvc' ? 'rejected' : 'fulfilled');
        }
        // Their codes are in date there, and are refused; once they are past their date, the cards are as ever.
        for (const id of cardIds) expect((await read(restored, id)).status).to.equal(422);
        expect((await read(restored, otherId)).body.data).to.equal('Jane Doe');
        for (const text of LET_TIME_PASS) await restored.database.run({ text });
        for (const id of cardIds) expect((await read(restored, id)).body.data).to.deep.equal(CARD);
      });
    });

    it('cost key management nothing more while none are sealed', async () => {
      const asked: string[] = [];
      const watched = new Proxy(await keys.open(), {
        get(target, property: keyof KeyManagement) {
          if (property !== 'name') asked.push(property);
          return Reflect.get(target, property) as unknown;
        },
      });
      await sweep(watched);
      expect(asked).to.deep.equal([]);
    });

    it('go on under a new version, which is destroyed in its turn', async () => {
      const management = await keys.open();
      const { current } = await management.versions('cvc');
      // The first one has keys in memory from before that time passed.
      const later = await startOver(server);
      await createToken('card', { ...CARD, cvc: '321' }, later);
      await later.stop();
      await sweep(management);
      expect(await management.versions('cvc')).to.include({ current, oldest: current });
      for (const text of LET_TIME_PASS) await vault.database.run({ text });
      await sweep(management);
      expect(await management.versions('cvc')).to.include({ current: current + 1, oldest: current + 1 });
      const record = await findMasterKey(vault.database, { management: management.name, master: 'cvc' });
      expect(record).to.include({ usedVersion: current, oldestVersion: current + 1, retiredBelow: current + 1 });
    });
  });
}
