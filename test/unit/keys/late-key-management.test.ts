import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import { KeyManagementAway, type KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyManagementLate } from '../../../src/keys/late-key-management.ts';
import { eventually } from '../../support/eventually.ts';

const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('nothing was refused'),
    (error: unknown) => error,
  );

describe('key management that is opened late', () => {
  let [away, opened, closed] = [false, 0, 0];
  const management = {
    name: 'vault',
    ping: async () => undefined,
    verifies: async (_message: Buffer, mac: string) => mac === 'right',
    async close() {
      closed++;
    },
  } as unknown as KeyManagement;

  async function open(): Promise<KeyManagement> {
    opened++;
    if (away) throw new KeyManagementAway('sealed');
    return management;
  }

  beforeEach(() => {
    [away, opened, closed] = [false, 0, 0];
  });

  it('is the key management itself where that is there', async () => {
    expect(await openKeyManagementLate({ name: 'vault', open })).to.equal(management);
  });

  it('is refused where key management answers, and is not as it must be', async () => {
    const wrong = new DomainError('unavailable', 'no such transit key: make it');
    const refused = openKeyManagementLate({ name: 'vault', open: () => Promise.reject(wrong) });
    expect(await rejection(refused)).to.equal(wrong);
  });

  it('says that it is away until it is there, and then does what it is asked for', async () => {
    away = true;
    const late = await openKeyManagementLate({ name: 'vault', open, holdOffMs: 1 });
    expect(late.name).to.equal('vault');
    expect(await rejection(late.ping())).to.be.instanceOf(KeyManagementAway);
    away = false;
    await eventually(() => late.ping());
    expect(await late.verifies(Buffer.of(), 'right')).to.equal(true);
    expect(await late.verifies(Buffer.of(), 'wrong')).to.equal(false);
  });

  it('is not asked again by everybody, and at once', async () => {
    away = true;
    const late = await openKeyManagementLate({ name: 'vault', open, holdOffMs: 60_000 });
    await Promise.all([rejection(late.ping()), rejection(late.ping()), rejection(late.rotate('tokens'))]);
    expect(opened).to.equal(1);
  });

  it('closes what it has opened, and opens nothing after that', async () => {
    away = true;
    const late = await openKeyManagementLate({ name: 'vault', open, holdOffMs: 1 });
    away = false;
    await eventually(() => late.ping());
    await late.close();
    expect(closed).to.equal(1);
    const before = opened;
    expect(await rejection(late.ping())).to.be.instanceOf(DomainError);
    expect(opened).to.equal(before);
  });

  it('closes though it was never opened', async () => {
    away = true;
    const late = await openKeyManagementLate({ name: 'vault', open });
    await late.close();
    expect(closed).to.equal(0);
  });
});
