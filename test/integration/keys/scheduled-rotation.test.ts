import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { createDataKeys } from '../../../src/keys/data-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { silentLogger, type LogFields, type Logger } from '../../../src/platform/logger.ts';
import { KEYS_TURN } from '../../../src/services/key-rotation/parts.ts';
import { createScheduledRotation, type ScheduledRotation } from '../../../src/services/key-rotation/schedule.ts';
import { eventually } from '../../support/eventually.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const DAY = 24 * 3600_000;

for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`scheduled rotation over ${name}`, () => {
    let test: TestDatabase;
    let keys: TestKeys;
    let custodian: KeyManagement;
    let rotation: ScheduledRotation | undefined;
    let lines: { level: string; message: string; fields: LogFields }[];

    function start(management: KeyManagement, { ageMs = 0, maxAgeMs = 90 * DAY } = {}): void {
      const log = (level: string) => (fields: LogFields, message: string) => lines.push({ level, message, fields });
      const logger: Logger = { ...silentLogger, info: log('info'), warn: log('warn') };
      rotation = createScheduledRotation({
        ...{ database: test.maintenance, management, logger, maxAgeMs, checkIntervalMs: 5 },
        clock: { now: () => Date.now() + ageMs },
        takeTurn: () => tryAdvisoryLock(test.sweeperConnectionString, KEYS_TURN),
      });
      rotation.start();
    }

    async function versionInUse(): Promise<number[]> {
      const rows = await test.database.run<{ version: number }>({
        text: `select distinct master_version as version from data_keys`,
      });
      return rows.map(({ version }) => version);
    }

    before(async function () {
      keys = await create(this);
      custodian = await keys.openAsCustodian();
      test = await createTestDatabase();
      const store = createDataKeyStore(test.database);
      const dataKeys = createDataKeys({ management: await keys.open(), store, clock: systemClock });
      for (let count = 0; count < 3; count++) await dataKeys.forSealing(await storedTenant(test.database), 1);
      dataKeys.close();
    });
    after(async () => {
      await test?.dispose();
      await keys?.dispose();
    });
    beforeEach(() => {
      lines = [];
    });
    afterEach(async () => {
      await rotation?.stop();
    });

    it('leaves a master key alone that is young enough', async () => {
      let looks = 0;
      start({ ...custodian, versions: (master) => ((looks += 1), custodian.versions(master)) });
      await eventually(() => expect(looks).to.be.at.least(4));
      expect(await custodian.versions('tokens')).to.include({ current: 1, oldest: 1 });
      expect(lines).to.deep.equal([]);
    });

    it('rotates an older one and rewraps every data key, and destroys nothing', async () => {
      start(custodian, { ageMs: 91 * DAY, maxAgeMs: 90 * DAY });
      await eventually(async () => expect(await versionInUse()).to.deep.equal([2]));
      await rotation!.stop();
      const { current, oldest } = await custodian.versions('tokens');
      expect(current).to.be.at.least(2);
      expect(oldest).to.equal(1);
      expect(lines.map(({ message }) => message)).to.include.members(['Master key rotated', 'Data keys rewrapped']);
    });

    it('goes on with a rewrap that was interrupted, also when no rotation is due', async () => {
      await custodian.rotate('tokens');
      const { current } = await custodian.versions('tokens');
      start(custodian);
      await eventually(async () => expect(await versionInUse()).to.deep.equal([current]));
    });

    it('warns once where key management refuses, however often it is tried, and says why', async () => {
      let tries = 0;
      const refusal = new Error('refused');
      const rotate = () => ((tries += 1), Promise.reject(refusal));
      start({ ...custodian, rotate }, { ageMs: 91 * DAY });
      await eventually(() => expect(tries).to.be.at.least(3));
      expect(lines.filter(({ level }) => level === 'warn')).to.have.length(1);
      expect(lines[0]!.fields['error']).to.equal(refusal);
    });

    it('stands back while another process changes keys', async () => {
      const turn = await tryAdvisoryLock(test.connectionString, KEYS_TURN);
      const { current } = await custodian.versions('tokens');
      let looks = 0;
      start({ ...custodian, rotate: () => ((looks += 1), custodian.rotate('tokens')) }, { ageMs: 91 * DAY });
      await rotation!.stop();
      await turn!.release();
      expect(looks).to.equal(0);
      expect(await custodian.versions('tokens')).to.include({ current });
      expect(lines).to.deep.equal([]);
    });
  });
}

describe('scheduled rotation with a policy that does not allow it', () => {
  it('says what to grant', async function () {
    const { create } = KEY_MANAGEMENTS[1]!;
    const keys = await create(this);
    const test = await createTestDatabase();
    const warnings: LogFields[] = [];
    const rotation = createScheduledRotation({
      ...{ database: test.maintenance, management: await keys.open(), maxAgeMs: DAY },
      clock: { now: () => Date.now() + 2 * DAY },
      logger: { ...silentLogger, warn: (fields) => warnings.push(fields) },
      takeTurn: () => tryAdvisoryLock(test.sweeperConnectionString, KEYS_TURN),
    });
    rotation.start();
    await eventually(() => expect(warnings).to.have.length(1));
    await rotation.stop();
    await test.dispose();
    await keys.dispose();
    expect(warnings[0]).to.have.nested.property('error.kind', 'unavailable');
    expect(warnings[0])
      .to.have.nested.property('error.message')
      .that.matches(/transit\/keys\/tokenkeep\/rotate.*policy.*config\/vault/);
  });
});
