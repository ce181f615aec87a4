import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Claim, claimSlot, releaseSlot, storeAnswer } from '../../../src/data/idempotent-answers.ts';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newSlot } from '../../support/rows.ts';

const ANSWER = Buffer.from('sealed');

describe('the table of idempotent answers', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  const newClaim = (of?: Claim): Claim => ({ ...(of ?? newSlot(randomUUID())), claim: randomUUID() });
  const claim = (claimed: Claim, leaseSeconds = 60) => claimSlot(test.database, claimed, leaseSeconds);
  const store = (claimed: Claim, seconds = 60) => storeAnswer(test.database, claimed, ANSWER, seconds);

  it('gives a slot to one attempt of many at once', async () => {
    const first = newClaim();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => claim(newClaim(first))));
    expect(outcomes.filter((outcome) => outcome === 'claimed')).to.have.length(1);
    expect(outcomes.filter((outcome) => outcome === 'under-way')).to.have.length(19);
  });

  it('gives the stored answer to whoever comes later', async () => {
    const first = newClaim();
    expect(await claim(first)).to.equal('claimed');
    expect(await store(first)).to.equal(true);
    expect(await claim(newClaim(first))).to.deep.equal({
      ...{ answer: ANSWER, sealedFormat: SEALED_FORMAT, claim: first.claim },
    });
  });

  it('has slots of their own for every tenant, owner and key', async () => {
    const first = newClaim();
    await claim(first);
    for (const other of [{ tenantId: randomUUID() }, { ownerId: randomUUID() }, { keyHash: randomBytes(32) }]) {
      expect(await claim({ ...newClaim(first), ...other })).to.equal('claimed');
    }
  });

  it('frees a slot that is released, and none of another attempt', async () => {
    const first = newClaim();
    await claim(first);
    await releaseSlot(test.database, newClaim(first));
    expect(await claim(newClaim(first))).to.equal('under-way');
    await releaseSlot(test.database, first);
    expect(await claim(newClaim(first))).to.equal('claimed');
  });

  it('lets nobody store an answer who does not hold the slot, or twice', async () => {
    const [first, second] = [newClaim()].flatMap((one) => [one, newClaim(one)]);
    await claim(first!, 0);
    expect(await claim(second!)).to.equal('claimed');
    expect(await store(first!)).to.equal(false);
    expect(await store(second!)).to.equal(true);
    expect(await store(second!)).to.equal(false);
  });
});
