import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import { KeyringError } from '../../../src/keys/keyring-file.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';

const unneeded = { isNeeded: async () => false };
const needed = { isNeeded: async () => true };

interface KeyringContent {
  masters: Record<'tokens' | 'cvc', { version: number; made_at?: string }[]>;
  audit?: string;
}

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
    const refused = [
      keyring.unwrapDataKey('tokens', randomUUID(), wrapped),
      keyring.unwrapDataKey('cvc', tenantId, wrapped),
      keyring.unwrapDataKey('tokens', tenantId, changed),
      keyring.unwrapDataKey('tokens', tenantId, wrapped.replace(':v1:', ':v2:')),
      keyring.unwrapDataKey('tokens', tenantId, wrapped.slice(0, 20)),
      keyring.unwrapDataKey('tokens', tenantId, ''),
    ];
    for (const error of await Promise.all(refused.map(failure))) {
      expect(error.message).to.match(/^a data key does not unwrap/);
    }
  });

  it('refuses a missing file where data is sealed under it, and makes none', async () => {
    const error = await failure(openKeyring(path, needed));
    expect(error).to.be.instanceOf(KeyringError);
    expect(error.message).to.include('is missing').and.include('restore it');
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('opens a file of an earlier program, without times and without the key of the log', async () => {
    const { plaintext, wrapped } = await (await openKeyring(path, unneeded)).createDataKey('tokens', tenantId);
    const content = JSON.parse(await readFile(path, 'utf8')) as KeyringContent;
    delete content.audit;
    for (const version of Object.values(content.masters).flat()) delete version.made_at;
    await writeFile(path, JSON.stringify(content));
    const keyring = await openKeyring(path, needed);
    expect(await keyring.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
    expect((await keyring.versions('tokens')).currentSince).to.deep.equal((await stat(path, { bigint: true })).mtime);
    expect(await keyring.verifies(Buffer.from('head'), await keyring.authenticate(Buffer.from('head')))).to.equal(true);
  });

  it('moves a wrapped key to the current version, and unwraps none of a retired one, whoever kept it', async () => {
    const keyring = await openKeyring(path, unneeded);
    const { plaintext, wrapped } = await keyring.createDataKey('tokens', tenantId);
    await keyring.rotate('tokens');
    const moved = await keyring.rewrapDataKey('tokens', tenantId, wrapped);
    expect(moved).to.match(/^keyring:v2:/);
    expect(await keyring.versions('tokens')).to.include({ current: 2, oldest: 1 });
    await keyring.retire('tokens', 2);
    await keyring.retire('tokens', 2);
    expect(await keyring.versions('tokens')).to.include({ current: 2, oldest: 2 });
    expect(await keyring.unwrapDataKey('tokens', tenantId, moved)).to.deep.equal(plaintext);
    for (const holder of [keyring, await openKeyring(path, needed)]) {
      const error = await failure(holder.unwrapDataKey('tokens', tenantId, wrapped));
      expect(error).not.to.be.instanceOf(DomainError);
      expect(error.message).to.match(/^a data key does not unwrap/);
    }
    const content = JSON.parse(await readFile(path, 'utf8')) as KeyringContent;
    expect(content.masters.tokens.map(({ version }) => version)).to.deep.equal([2]);
  });

  it('never retires the current version', async () => {
    const keyring = await openKeyring(path, unneeded);
    expect((await failure(keyring.retire('cvc', 2))).message).to.include('current version');
    expect(await keyring.versions('cvc')).to.include({ current: 1, oldest: 1 });
  });

  it('wraps a key that was made elsewhere', async () => {
    const keyring = await openKeyring(path, unneeded);
    const plaintext = Buffer.alloc(32, 7);
    const wrapped = await keyring.wrapDataKey('tokens', tenantId, plaintext);
    expect(await keyring.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
  });

  it('is followed by every process that has it open, and loses nothing where many change it at once', async () => {
    const first = await openKeyring(path, unneeded);
    const others = await Promise.all(Array.from({ length: 4 }, () => openKeyring(path, needed)));
    await Promise.all([first, ...others].flatMap((keyring) => [keyring.rotate('tokens'), keyring.rotate('cvc')]));
    for (const keyring of [first, ...others]) {
      expect(await keyring.versions('tokens')).to.include({ current: 6, oldest: 1 });
      expect((await keyring.createDataKey('cvc', tenantId)).wrapped).to.match(/^keyring:v6:/);
    }
    expect(await readdir(folder)).to.deep.equal(['keyring.json']);
  });

  it('authenticates messages for every process, and through rotations and retirements', async () => {
    const keyring = await openKeyring(path, unneeded);
    const mac = await keyring.authenticate(Buffer.from('head 1'));
    await keyring.rotate('tokens');
    await keyring.retire('tokens', 2);
    const again = await openKeyring(path, needed);
    expect(await again.verifies(Buffer.from('head 1'), mac)).to.equal(true);
    for (const [message, wrong] of [
      ['head 2', mac],
      ['head 1', mac.slice(0, -4)],
      ['head 1', mac.replace('keyring:v1:', '')],
      ['head 1', ''],
    ] as const) {
      expect(await again.verifies(Buffer.from(message), wrong), wrong).to.equal(false);
    }
  });

  for (const [what, spoil] of Object.entries({
    'is gone': () => rm(path),
    'was opened to others': () => chmod(path, 0o644),
    'was damaged': () => writeFile(path, '{'),
  })) {
    it(`gives nothing while its file ${what}, says what to do, and is well again with the file`, async () => {
      const keyring = await openKeyring(path, unneeded);
      const { wrapped } = await keyring.createDataKey('tokens', tenantId);
      const content = await readFile(path);
      await spoil();
      const refused: Promise<unknown>[] = [
        keyring.ping(),
        keyring.createDataKey('tokens', tenantId),
        keyring.unwrapDataKey('tokens', tenantId, wrapped),
        keyring.rotate('tokens'),
      ];
      for (const error of await Promise.all(refused.map(failure))) {
        expect(error).to.be.instanceOf(DomainError).with.property('kind', 'unavailable');
        expect(error.message).to.match(/restore it|chmod 600/);
      }
      await rm(path, { force: true });
      await writeFile(path, content, { mode: 0o600 });
      await keyring.ping();
      expect(await keyring.unwrapDataKey('tokens', tenantId, wrapped)).to.have.length(32);
    });
  }

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
