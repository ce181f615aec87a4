import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { replaceFile } from '../../../src/platform/replace-file.ts';

describe('replacing a file', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tokenkeep-replace-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('makes it with its mode and leaves nothing else behind', async () => {
    await replaceFile(path.join(folder, 'a.json'), 'one', 0o600);
    await replaceFile(path.join(folder, 'a.json'), 'two', 0o600);
    expect(await readdir(folder)).to.deep.equal(['a.json']);
    expect(await readFile(path.join(folder, 'a.json'), 'utf8')).to.equal('two');
    expect((await stat(path.join(folder, 'a.json'))).mode & 0o777).to.equal(0o600);
  });

  it('takes neither content nor mode from what an earlier run left unfinished', async () => {
    const unfinished = path.join(folder, '.a.json.tmp');
    await writeFile(unfinished, 'much longer than what is written now');
    await chmod(unfinished, 0o644);
    await replaceFile(path.join(folder, 'a.json'), 'new', 0o600);
    expect(await readFile(path.join(folder, 'a.json'), 'utf8')).to.equal('new');
    expect((await stat(path.join(folder, 'a.json'))).mode & 0o777).to.equal(0o600);
  });

  it('rejects where its folder is gone', async () => {
    await rm(folder, { recursive: true });
    const result = await replaceFile(path.join(folder, 'a.json'), 'new', 0o600).catch((error: unknown) => error);
    expect(result).to.have.property('code', 'ENOENT');
  });
});
