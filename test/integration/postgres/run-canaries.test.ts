import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { randomCardNumber, randomDigits, randomRoutingNumber } from '../../support/canary.ts';
import { administer, createEmptyDatabase } from '../../support/postgres.ts';
import { plantedCanaries, plantedCanary, scanForCanaries } from '../../support/run-canaries.ts';

describe('the scan for canaries at the end of a run', function () {
  this.timeout(120_000);

  const startedAt = Date.now();

  async function placesOf(canary: string): Promise<string[]> {
    const [row] = await administer(`select current_setting('data_directory') as folder`);
    const folder = String(row!['folder']);
    const { sightings } = await scanForCanaries({ canary }, { folders: [folder], since: startedAt });
    return sightings.map(({ place }) => (place.startsWith(folder) ? place.slice(folder.length + 1) : place));
  }

  it('finds one that stands in the write-ahead log, and in a table as long as its database is there', async () => {
    const test = await createEmptyDatabase();
    const canary = randomCardNumber();
    await test.database.run({ text: 'create table leaks (leak text)' });
    await test.database.run({ text: 'insert into leaks values ($1)' }, [canary]);
    // Before a checkpoint, which may do away with this part of it.
    expect((await placesOf(canary)).some((place) => place.startsWith('pg_wal/'))).to.equal(true);
    await administer('checkpoint');
    expect((await placesOf(canary)).some((place) => place.startsWith('base/'))).to.equal(true);
    await test.dispose();
    expect((await placesOf(canary)).some((place) => place.startsWith('base/'))).to.equal(false);
  });

  it('finds one in a temporary folder of ours', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-leak-'));
    const canary = randomCardNumber();
    await writeFile(join(folder, 'output.txt'), `number: ${Buffer.from(canary).toString('base64')}`);
    expect(await placesOf(canary)).to.deep.equal([join(folder, 'output.txt')]);
    await rm(folder, { recursive: true });
  });

  it('does not look for short numbers: the fraction of some instant in some log is the same', () => {
    const [routingNumber, accountNumber] = [randomRoutingNumber(), randomDigits(12)];
    expect(plantedCanary('routing number', routingNumber)).to.equal(routingNumber);
    expect(plantedCanary('account number', accountNumber)).to.equal(accountNumber);
    const lookedFor = [...plantedCanaries().values()];
    expect(lookedFor).to.include(accountNumber);
    expect(lookedFor).not.to.include(routingNumber);
  });

  it('finds none that was not written', async () => {
    expect(await placesOf(randomCardNumber())).to.deep.equal([]);
  });
});
