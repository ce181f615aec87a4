import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// All tests, in two processes at a time: most of them wait for something else than a processor. Each has its own
// Postgres, transit server and cluster. What the second one says comes once the first one has ended. Files with a test
// that has failed beside the other process are run once more by themselves: what fails then, too, has failed; the rest
// is told. The last line is the sum.

const MOCHA = fileURLToPath(new URL('../node_modules/mocha/bin/mocha.js', import.meta.url));
const SECOND = 'test/integration/{cli,operator,reactors,roles}/**/*.test.ts';
const ALL = 'test/{architecture,unit,chart,integration}/**/*.test.ts';
/** Of the second; everything else is in the first, so that no file is left out. */
const LANES = [['--ignore', SECOND, ALL], [SECOND]];
/** With more of them, it is not the company of the other process. */
const MOST_FILES_AGAIN = 5;

const SUMMARY = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

interface Failure {
  /** Absent where it belongs to no file: a check of the whole run. */
  readonly file?: string;
  readonly title: string;
}

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

interface Run {
  readonly process: ChildProcess;
  /** From now on, and what was said until now. */
  show(): void;
  readonly ended: Promise<Outcome>;
}

const folder = await mkdtemp(join(tmpdir(), 'test-outcomes-'));
const running = new Set<ChildProcess>();
let runs = 0;
let isEnding = false;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function start(args: readonly string[]): Run {
  const list = join(folder, `${(runs += 1)}.json`);
  const env = { ...process.env, TOKENKEEP_TEST_FAILURES: list };
  const child = spawn(process.execPath, [MOCHA, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const held: string[] = [];
  let isShown = false;
  let counts: Omit<Outcome, 'failures'> | undefined;
  const print = (line: string): void => {
    if (isShown) say(line);
    else held.push(line);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, passed, failed, skipped] = SUMMARY.exec(line) ?? [];
    if (passed === undefined) print(line);
    else counts = { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
  });
  // Why something is skipped, and what is being built: at once.
  child.stderr.pipe(process.stderr, { end: false });
  return {
    process: child,
    show() {
      isShown = true;
      for (const line of held.splice(0)) print(line);
    },
    ended: once(child, 'close').then(async ([code]) => {
      running.delete(child);
      if (counts !== undefined && (code === 0 || counts.failed > 0)) {
        return { ...counts, failures: JSON.parse(await readFile(list, 'utf8')) as Failure[] };
      }
      const title = `mocha ${args.join(' ')} ended with code ${code}`;
      print(`FAILED: ${title}`);
      return { passed: 0, skipped: 0, ...counts, failed: (counts?.failed ?? 0) + 1, failures: [{ title }] };
    }),
  };
}

/** Those of the failures that are none where their files have the machine for themselves. */
async function passedAlone(failures: readonly Failure[]): Promise<Failure[]> {
  const files = new Set(failures.flatMap(({ file }) => file ?? []));
  if (files.size === 0 || files.size > MOST_FILES_AGAIN) return [];
  const passed: Failure[] = [];
  for (const file of files) {
    if (isEnding) break;
    say(`\nOnce more, alone: ${file}`);
    const run = start([file]);
    run.show();
    const { failed } = await run.ended;
    if (failed === 0) passed.push(...failures.filter((failure) => failure.file === file));
  }
  return passed;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isEnding = true;
    for (const child of running) child.kill(signal);
  });
}

const total = { passed: 0, failed: 0, skipped: 0 };
const failures: Failure[] = [];
const lanes = LANES.map(start);
for (const lane of lanes) {
  lane.show();
  const outcome = await lane.ended;
  total.passed += outcome.passed;
  total.failed += outcome.failed;
  total.skipped += outcome.skipped;
  failures.push(...outcome.failures);
}
const forgiven = await passedAlone(failures);
total.passed += forgiven.length;
total.failed -= forgiven.length;
if (forgiven.length > 0) {
  say(`\nFAILED BESIDE OTHER TESTS, and passed alone: ${forgiven.length}`);
  for (const { title, file } of forgiven) say(`  ${title} (${file})`);
}
await rm(folder, { recursive: true });
say(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
