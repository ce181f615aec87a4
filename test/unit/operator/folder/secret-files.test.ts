import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { createSecretFiles } from '../../../../src/operator/sources/folder/secret-files.ts';
import type { OwnedSecret } from '../../../../src/operator/sources/types.ts';

describe('secrets as files', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'tokenkeep-secrets-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const secret = (overrides: Partial<OwnedSecret> = {}): OwnedSecret => ({
    namespace: 'shop',
    name: 'key',
    owner: { kind: 'Application', namespace: 'shop', name: 'payments' },
    labels: { 'app.kubernetes.io/managed-by': 'tokenkeep' },
    annotations: {},
    data: { 'api-key': 'value', 'base-url': 'http://localhost' },
    isRetained: false,
    ...overrides,
  });
  const refusal = (work: () => Promise<unknown>) =>
    Promise.resolve()
      .then(work)
      .then(
        () => 'accepted',
        () => 'refused',
      );

  it('come back as they were written, lose entries that went, and leave nothing else behind', async () => {
    const files = createSecretFiles(root);
    await files.write(secret());
    expect(await files.read('shop', 'key')).to.deep.include(secret());
    await files.write(secret({ data: { 'api-key': 'other' } }));
    expect((await readdir(path.join(root, 'shop', 'key'))).sort()).to.deep.equal(['.metadata.json', 'api-key']);
    await files.remove('shop', 'key');
    expect(await readdir(root)).to.deep.equal([]);
  });

  it('are left alone where they are as they were read: one that was deleted meanwhile stays so', async () => {
    const files = createSecretFiles(root);
    await files.write(secret());
    const before = await files.read('shop', 'key');
    if (before === undefined || before === 'foreign') return expect.fail('not read');
    await files.remove('shop', 'key');
    await files.write(secret(), before);
    expect(await files.read('shop', 'key')).to.equal(undefined);
    await files.write(secret({ isRetained: true }), before);
    expect(await files.read('shop', 'key')).to.include({ isRetained: true });
  });

  it('are readable by their owner only, even where the folder was open before', async () => {
    await createSecretFiles(root).write(secret());
    for (const [place, mode] of [
      ['.', 0o700],
      ['shop', 0o700],
      ['shop/key', 0o700],
      ['shop/key/api-key', 0o600],
    ] as const) {
      expect((await stat(path.join(root, place))).mode & 0o777, place).to.equal(mode);
    }
  });

  it('cannot be placed or named outside their folder', async () => {
    const files = createSecretFiles(path.join(root, 'secrets'));
    for (const name of ['..', '../x', 'a/b', '', '.', 'A']) {
      expect(await refusal(() => files.write(secret({ name }))), name).to.equal('refused');
      expect(await refusal(() => files.write(secret({ namespace: name }))), name).to.equal('refused');
      expect(await refusal(() => files.readEntries('shop', name)), name).to.equal('refused');
      expect(await refusal(() => files.remove('shop', name)), name).to.equal('refused');
    }
    for (const entry of ['../x', 'a/b', '..', '.metadata.json', '']) {
      expect(await refusal(() => files.write(secret({ data: { [entry]: 'x' } }))), entry).to.equal('refused');
    }
    expect((await readdir(root)).filter((name) => name !== 'secrets')).to.be.empty;
  });

  it('may have the longest name that Kubernetes takes, with dots', async () => {
    const files = createSecretFiles(root);
    for (const name of ['a.b-c.0', 'a'.repeat(253)]) {
      await files.write(secret({ name }));
      expect(await files.read('shop', name), name).to.deep.include(secret({ name }));
    }
    for (const name of ['a'.repeat(254), 'a..b', '.a', 'a.', 'a.-b']) {
      expect(await refusal(() => files.write(secret({ name }))), name).to.equal('refused');
    }
  });

  it('of others are neither overwritten nor deleted', async () => {
    const files = createSecretFiles(root);
    await files.write(secret());
    await rm(path.join(root, 'shop', 'key', '.metadata.json'));
    expect(await files.read('shop', 'key')).to.equal('foreign');
    expect(await refusal(() => files.write(secret({ data: { 'api-key': 'mine' } })))).to.equal('refused');
    await files.remove('shop', 'key');
    expect(await files.readEntries('shop', 'key')).to.include({ 'api-key': 'value' });
    await writeFile(path.join(root, 'shop', 'key', '.hidden'), 'x');
    expect(await files.readEntries('shop', 'key')).not.to.have.property('.hidden');
  });
});
