import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FolderInUse, lockFolder } from '../../../src/platform/folder-lock.ts';

const MODULE = new URL('../../../src/platform/folder-lock.ts', import.meta.url).href;
/** Takes the folder of its argument, says how that went, and stays until it is ended. */
const HOLDER = `
  import { lockFolder } from '${MODULE}';
  await lockFolder(process.argv[1], '--folder').then(() => console.log('taken'), () => console.log('refused'));
  setInterval(() => undefined, 1000);`;

describe('folder lock', () => {
  let folder: string;
  let file: string;
  const processes: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-lock-'));
    file = join(folder, 'lock');
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map(end));
    await rm(folder, { recursive: true });
  });

  const take = () => lockFolder(folder, '--folder');
  const refusal = () =>
    take().then(
      () => undefined,
      (error: unknown) => error,
    );

  async function startHolder(): Promise<{ process: ChildProcess; said: string }> {
    const holder = spawn(process.execPath, ['--no-warnings', '--input-type=module-typescript', '-e', HOLDER, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    processes.push(holder);
    const [said] = (await once(holder.stdout.setEncoding('utf8'), 'data')) as [string];
    return { process: holder, said: said.trim() };
  }

  async function end(holder: ChildProcess): Promise<void> {
    if (holder.exitCode !== null || holder.signalCode !== null) return;
    const exit = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exit;
  }

  it('is refused while another process has the folder, naming that process and the flag', async () => {
    const { process: holder } = await startHolder();
    const error = await refusal();
    expect(error).to.be.instanceOf(FolderInUse);
    expect((error as Error).message).to.equal(
      `${folder} is in use by process ${holder.pid}: stop that one, or choose another with --folder`,
    );
  });

  it('is refused to the process that has it already', async () => {
    const lock = await take();
    expect(await refusal()).to.be.instanceOf(FolderInUse);
    await lock.release();
  });

  it('is free again once released, and leaves no file behind', async () => {
    await (await take()).release();
    expect(await readdir(folder)).to.deep.equal([]);
    await (await take()).release();
  });

  it('is free once its process was killed', async () => {
    const { process: holder } = await startHolder();
    await end(holder);
    await (await take()).release();
  });

  it('is free where the number of its process went to another one', async () => {
    await take();
    const holder = JSON.parse(await readFile(file, 'utf8')) as { startedAt: string };
    await writeFile(file, JSON.stringify({ ...holder, startedAt: '1', nonce: 'of an earlier process' }));
    await (await take()).release();
  });

  for (const [what, content] of Object.entries({ 'an empty file': '', 'half a file': '{"pid": 1', nonsense: '{}' })) {
    it(`is free where ${what} is left of it`, async () => {
      await writeFile(file, content);
      await (await take()).release();
    });
  }

  it('goes to exactly one of many processes that find a stale one at the same moment', async () => {
    const { process: stale } = await startHolder();
    await end(stale);
    const said = (await Promise.all(Array.from({ length: 4 }, startHolder))).map((holder) => holder.said);
    expect(said.filter((answer) => answer === 'taken')).to.have.length(1);
    expect(await readdir(folder)).to.deep.equal(['lock']);
  });

  it('goes to exactly one of many callers', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, take));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
  });

  it('does not release what another one has taken since', async () => {
    const lock = await take();
    await rm(file);
    const { said } = await startHolder();
    expect(said).to.equal('taken');
    await lock.release();
    expect(await refusal()).to.be.instanceOf(FolderInUse);
  });

  it('can be read by its owner only', async () => {
    const lock = await take();
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    await lock.release();
  });
});
