import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { KeyringError } from '../../../src/keys/keyring-file.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';

const unneeded = { isNeeded: async () => false };
const needed = { isNeeded: async () => true };

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail('did not fail'),
    (error: Error) => error,
  );
}

describe('the keyring file', () => {
  const tenantId = randomUUID();
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-keyring-'));
    path = join(folder, 'keyring.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is made on the first start, for its owner only, with nothing left beside it', async () => {
    await openKeyring(path, unneeded);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await readdir(folder)).to.deep.equal(['keyring.json']);
  });

  it('unwraps after a restart what it wrapped before', async () => {
    const { plaintext, wrapped } = await (await openKeyring(path, unneeded)).createDataKey('tokens', tenantId);
    const again = await openKeyring(path, needed);
    expect(await again.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
  });

  it('keeps data keys of 256 random bits, each another one', async () => {
    const keyring = await openKeyring(path, unneeded);
    const first = await keyring.createDataKey('tokens', tenantId);
    const second = await keyring.createDataKey('tokens', tenantId);
    expect(first.plaintext).to.have.length(32);
    expect(first.plaintext.equals(second.plaintext)).to.equal(false);
    expect(first.wrapped).not.to.include(first.plaintext.toString('base64'));
  });

  it('unwraps under older versions after a rotation, and wraps under the new one', async () => {
    const keyring = await openKeyring(path, unneeded);
    const old = await keyring.createDataKey('tokens', tenantId);
    await keyring.rotate('tokens');
    expect(await keyring.unwrapDataKey('tokens', tenantId, old.wrapped)).to.deep.equal(old.plaintext);
    expect((await keyring.createDataKey('tokens', tenantId)).wrapped).to.match(/^keyring:v2:/);
    expect((await keyring.createDataKey('cvc', tenantId)).wrapped).to.match(/^keyring:v1:/);
    const again = await openKeyring(path, needed);
    expect(await again.unwrapDataKey('tokens', tenantId, old.wrapped)).to.deep.equal(old.plaintext);
  });

  it('refuses a wrapped key of another tenant, another master key or with a changed character', async () => {
    const keyring = await openKeyring(path, unneeded);
    const { wrapped } = await keyring.createDataKey('tokens', tenantId);
    const changed = wrapped.replace(/.(?=.{8}$)/, (character) => (character === 'A' ? 'B' : 'A'));
    for (const work of [
      keyring.unwrapDataKey('tokens', randomUUID(), wrapped),
      keyring.unwrapDataKey('cvc', tenantId, wrapped),
      keyring.unwrapDataKey('tokens', tenantId, changed),
      keyring.unwrapDataKey('tokens', tenantId, wrapped.replace(':v1:', ':v2:')),
      keyring.unwrapDataKey('tokens', tenantId, wrapped.slice(0, 20)),
      keyring.unwrapDataKey('tokens', tenantId, ''),
    ]) {
      expect((await failure(work)).message).to.match(/^a data key does not unwrap/);
    }
  });

  it('refuses a missing file where data is sealed under it, and makes none', async () => {
    const error = await failure(openKeyring(path, needed));
    expect(error).to.be.instanceOf(KeyringError);
    expect(error.message).to.include('is missing').and.include('restore it');
    expect(await readdir(folder)).to.deep.equal([]);
  });

  for (const mode of [0o640, 0o604, 0o660, 0o644]) {
    it(`refuses mode ${mode.toString(8)}, saying what to do`, async () => {
      await openKeyring(path, unneeded);
      await chmod(path, mode);
      expect((await failure(openKeyring(path, unneeded))).message).to.include(`run chmod 600 ${path}`);
    });
  }

  for (const [name, damage] of Object.entries({
    empty: () => '',
    'cut short': (text: string) => text.slice(0, -20),
    'of another format': (text: string) => text.replace('"format": 1', '"format": 2'),
    'with a short key': (text: string) => text.replace(/"key": ".{8}/, '"key": "'),
    'without a master key': (text: string) => text.replace('"cvc"', '"other"'),
    'no object': () => '[]',
  })) {
    it(`refuses a file that is ${name}, and leaves it as it is`, async () => {
      await openKeyring(path, unneeded);
      const damaged = damage(await readFile(path, 'utf8'));
      await writeFile(path, damaged);
      const error = await failure(openKeyring(path, unneeded));
      expect(error).to.be.instanceOf(KeyringError);
      expect(error.message).to.include('is damaged');
      expect(await readFile(path, 'utf8')).to.equal(damaged);
    });
  }
});
