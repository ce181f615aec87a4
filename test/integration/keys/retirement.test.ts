import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { createDataKeys } from '../../../src/keys/data-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { KEYS_TURN, type KeyRotationParts } from '../../../src/services/key-rotation/parts.ts';
import { rewrap, rewrapAndRetire } from '../../../src/services/key-rotation/rewrap.ts';
import { rotate } from '../../../src/services/key-rotation/rotate.ts';
import { readKeyStatus } from '../../../src/services/key-rotation/status.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { findChangedKeys } from '../../support/rotation-load.ts';
import { storedTenant } from '../../support/rows.ts';

const YEAR = 365 * 24 * 3600_000;

for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`retirement of master keys over ${name}`, () => {
    let test: TestDatabase;
    let keys: TestKeys;
    let serving: KeyManagement;
    let custodian: KeyManagement;
    let parts: KeyRotationParts;

    async function makeDataKey(): Promise<string> {
      const store = createDataKeyStore(test.database);
      const dataKeys = createDataKeys({ management: serving, store, clock: systemClock });
      const tenantId = await storedTenant(test.database);
      await dataKeys.forSealing(tenantId, 1);
      dataKeys.close();
      return tenantId;
    }

    const attention = async (nowMs?: number) =>
      (await readKeyStatus({ database: test.database, management: custodian }, nowMs)).attention.join('\n');

    async function failure(work: Promise<unknown>): Promise<Error> {
      return work.then(
        () => expect.fail('did not fail'),
        (error: Error) => error,
      );
    }

    beforeEach(async function () {
      keys = await create(this);
      serving = await keys.open();
      custodian = await keys.openAsCustodian();
      test = await createTestDatabase();
      const takeTurn = () => tryAdvisoryLock(test.connectionString, KEYS_TURN);
      parts = { database: test.database, management: custodian, takeTurn };
      await makeDataKey();
      await rotate({ ...parts, clock: systemClock });
    });
    afterEach(async () => {
      await test?.dispose();
      await keys?.dispose();
    });

    it('loses nothing where it ends between any two steps, and the next run goes on', async () => {
      const steps: (keyof KeyManagement)[] = ['rewrapDataKey', 'retire'];
      for (const step of steps) {
        const ending: KeyManagement = {
          ...custodian,
          [step]: () => Promise.reject(new DomainError('unavailable', 'the process ends')),
        };
        await failure(rewrapAndRetire({ ...parts, management: ending }));
        expect(await custodian.versions('tokens')).to.include({ current: 2, oldest: 1 });
        expect(await attention()).to.include('a retirement of versions below v2 was interrupted');
        expect(await findChangedKeys(test.database, serving)).to.deep.equal([]);
      }
      // What is made in between is under the version that stays.
      await makeDataKey();
      await rewrapAndRetire(parts);
      expect(await custodian.versions('tokens')).to.include({ current: 2, oldest: 2 });
      expect(await findChangedKeys(test.database, serving)).to.deep.equal([]);
      expect(await attention()).to.equal('');
    });

    it('is refused while a data key is left that does not unwrap, and names it', async () => {
      const tenantId = await makeDataKey();
      const alter = `update data_keys set wrapped = regexp_replace(wrapped, ':v\\d+:....', ':v1:AAAA') where tenant_id = $1`;
      await test.database.run({ text: alter }, [tenantId]);
      const { replaced, broken } = await rewrap(parts);
      expect({ replaced, broken: broken.map((key) => key.tenantId) }).to.deep.equal({
        replaced: 1,
        broken: [tenantId],
      });
      const { message } = await failure(rewrapAndRetire(parts));
      expect(message).to.include('1 data keys cannot be rewrapped').and.include(`of tenant ${tenantId}`);
      expect(await custodian.versions('tokens')).to.include({ current: 2, oldest: 1 });
    });

    it('is asked for by the status, with what is behind, destroyed, ahead or overdue', async () => {
      expect(await attention()).to.equal(
        '1 data keys are wrapped under older versions of tokens: run tokenkeep keys rewrap',
      );
      expect(await attention(Date.now() + YEAR + 1_000)).to.include('older than a year: run tokenkeep keys rotate');
      await custodian.retire('tokens', 2);
      expect(await attention()).to.match(/1 data keys are wrapped under versions of tokens that are destroyed/);
      await test.database.run({ text: `update data_keys set wrapped = replace(wrapped, ':v1:', ':v9:')` });
      expect(await attention()).to.match(/1 data keys .* key management does not have: it is older than the database/);
    });
  });
}
