import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const demo = fileURLToPath(new URL('../../../src/cli/demo.ts', import.meta.url));
const samples = fileURLToPath(new URL('../../../config/samples', import.meta.url));

interface Outcome {
  code: number | null;
  output: string;
  /** The data folder that the demo said it used; undefined where it never said. */
  dataDir: string | undefined;
}

/** Runs the demo to its end; `onOutput` sees what it has printed so far, and may send it a signal. */
async function runDemo(
  args: string[] = [],
  onOutput: (output: string, kill: (signal: NodeJS.Signals) => void) => void = () => undefined,
): Promise<Outcome> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', demo, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => onOutput((seen += chunk.toString()), (signal) => child.kill(signal)));
  const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stdout)]);
  return { code: code as number | null, output, dataDir: /in (\S+tokenkeep-demo-\S+):/.exec(output)?.[1] };
}

async function isGone(path: string | undefined): Promise<boolean> {
  return readFile(join(path!, 'status.json')).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

describe('make demo', function () {
  this.timeout(120_000);
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-demo-test-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('tells the whole story, ends with code 0 and leaves nothing behind', async () => {
    const { code, output, dataDir } = await runDemo();
    expect(output).to.match(/✓ \d+ steps, all as they should be\.\n$/);
    expect(output).to.not.include('✗');
    expect(output, 'colours in a pipe').to.not.include('\u001b[');
    expect(code).to.equal(0);
    expect(await isGone(dataDir)).to.equal(true);
  });

  it('ends with code 1, naming what differs, where an application sees more than the story tells', async () => {
    await cp(samples, folder, { recursive: true });
    const rules = join(folder, 'access-rules.yaml');
    await writeFile(rules, (await readFile(rules, 'utf8')).replace('transform: mask', 'transform: reveal'));
    const { code, output, dataDir } = await runDemo(['--manifests', folder]);
    expect(output).to.include('✗ data.number: expected "XXXXXXXXXXXX4242", got "4242424242424242"');
    expect(output).to.match(/✗ \d of \d+ steps differ from what they should be\.\n$/);
    expect(code).to.equal(1);
    expect(await isGone(dataDir)).to.equal(true);
  });

  it('ends with code 1 and the reason where the vault refuses to start', async () => {
    const { code, output, dataDir } = await runDemo(['--manifests', join(folder, 'missing')]);
    expect(output).to.include('✗ the vault did not start, it ended with code 2:\ntokenkeep: --manifests');
    expect(code).to.equal(1);
    expect(await isGone(dataDir)).to.equal(true);
  });

  it('stops the vault and removes its folder when it is interrupted', async () => {
    let interrupted = false;
    const { code, output, dataDir } = await runDemo([], (seen, kill) => {
      if (interrupted || !seen.includes('ready at')) return;
      interrupted = true;
      kill('SIGINT');
    });
    expect(output).to.match(/✗ interrupted\n$/);
    expect(code).to.equal(1);
    expect(await isGone(dataDir)).to.equal(true);
  });
});
