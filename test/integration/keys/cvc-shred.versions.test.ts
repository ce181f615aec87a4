import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import { findMasterKey } from '../../../src/data/master-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { cvcBucket } from '../../../src/keys/replacement.ts';
import { CVC_KEYS_TURN, shredCvcKeys } from '../../../src/services/key-rotation/cvc-shredding.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const CVC = { management: 'keyring', master: 'cvc' } as const;
const MINUTE = 60;
const HOUR = 3600;

describe('versions of the master key of card verification codes', () => {
  let test: TestDatabase;
  let folder: string;
  let management: KeyManagement;
  let tenantId: string;

  beforeEach(async () => {
    test = await createTestDatabase();
    tenantId = await storedTenant(test.database);
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-cvc-'));
    management = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
  });
  afterEach(async () => {
    await management.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function store(wrapped: string, retentionSeconds: number): Promise<void> {
    const lifeMs = cvcBucket(retentionSeconds * 1000)
      .destroyAt(0)!
      .getTime();
    const text = `
      insert into data_keys (tenant_id, data_key_id, purpose, wrapped, active, uses, created_at, destroy_at)
      values ($1, $2, 'cvc', $3, false, 0, now(), now() + make_interval(secs => $4))`;
    await test.database.run({ text }, [tenantId, randomUUID(), wrapped, lifeMs / 1000]);
  }
  async function seal(retentionSeconds: number): Promise<void> {
    await store((await management.createDataKey('cvc', tenantId)).wrapped, retentionSeconds);
  }
  async function letPass(seconds: number): Promise<void> {
    const shift = `make_interval(secs => ${seconds})`;
    const text = `update data_keys set created_at = created_at - ${shift}, destroy_at = destroy_at - ${shift}`;
    await test.database.run({ text });
    await test.database.run({ text: 'delete from data_keys where destroy_at <= now()' });
  }
  const shred = (): Promise<number> =>
    shredCvcKeys({
      ...{ database: test.maintenance, management },
      takeTurn: () => tryAdvisoryLock(test.connectionString, CVC_KEYS_TURN),
    });

  it('are few where one tenant keeps codes for a day beside one that keeps them for a minute', async function () {
    this.timeout(120_000);
    const counts: number[] = [];
    for (let passed = 0; passed < 60 * HOUR; passed += HOUR / 2) {
      await seal(MINUTE);
      if (passed % (6 * HOUR) === 0) await seal(24 * HOUR);
      await shred();
      const { current, oldest } = await management.versions('cvc');
      counts.push(current - oldest + 1);
      await letPass(1.5 * MINUTE);
      await shred();
      await letPass(HOUR / 2);
    }
    expect(Math.max(...counts)).to.be.within(3, 7);
  });

  it('are destroyed within 1.5 times the longest retention, and 3 minutes', async function () {
    this.timeout(120_000);
    await seal(24 * HOUR);
    await seal(MINUTE);
    const { current } = await management.versions('cvc');
    for (let passed = 0; passed < 36 * HOUR + 3 * MINUTE; passed += HOUR / 4) {
      await seal(MINUTE);
      await shred();
      await letPass(HOUR / 4);
    }
    await shred();
    expect((await management.versions('cvc')).oldest).to.be.above(current);
  });

  it('go on being made and destroyed where a data key claims one that there never was', async () => {
    await seal(HOUR);
    await store('keyring:v999999999:eA==', HOUR);
    expect(await findMasterKey(test.database, CVC)).to.include({ usedVersion: 999_999_999 });
    const { current } = await management.versions('cvc');
    await shred();
    expect(await management.versions('cvc')).to.include({ current });
    await letPass(HOUR / 4 + MINUTE);
    await shred();
    expect(await management.versions('cvc')).to.include({ current: current + 1, oldest: current });
    await seal(HOUR);
    await letPass(HOUR + MINUTE + MINUTE);
    await shred();
    expect(await management.versions('cvc')).to.include({ current: current + 2, oldest: current + 1 });
    // No more than before, and those who seal are let in.
    await seal(HOUR);
    await shred();
    await shred();
    expect(await management.versions('cvc')).to.include({ current: current + 2 });
    const record = await findMasterKey(test.database, CVC);
    expect(record).to.include({ usedVersion: current + 2, oldestVersion: current + 1 });
  });

  it('are neither made nor fenced by such a data key alone', async () => {
    await store('keyring:v999999999:eA==', HOUR);
    const { current } = await management.versions('cvc');
    await shred();
    await shred();
    expect((await management.versions('cvc')).current - current).to.be.at.most(1);
    expect((await findMasterKey(test.database, CVC)).oldestVersion).to.be.at.most(current + 1);
    await seal(HOUR);
  });
});
