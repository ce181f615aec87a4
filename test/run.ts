import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// All tests, in two processes at a time: most of them wait for something else than a processor. Each has its own
// Postgres, transit server and cluster. What the second one says comes once the first one has ended. The last line is
// the sum of both.

const MOCHA = fileURLToPath(new URL('../node_modules/mocha/bin/mocha.js', import.meta.url));
const SECOND = 'test/integration/{cli,operator,reactors,roles}/**/*.test.ts';
const ALL = 'test/{architecture,unit,chart,integration}/**/*.test.ts';
/** Of the second; everything else is in the first, so that no file is left out. */
const LANES = [['--ignore', SECOND, ALL], [SECOND]];

const SUMMARY = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Lane {
  readonly process: ChildProcess;
  /** From now on, and what was said until now. */
  show(): void;
  readonly ended: Promise<Counts>;
}

function start(args: readonly string[]): Lane {
  const child = spawn(process.execPath, [MOCHA, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const held: string[] = [];
  let isShown = false;
  let counts: Counts | undefined;
  const print = (line: string): void => {
    if (isShown) process.stdout.write(`${line}\n`);
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
    ended: once(child, 'close').then(([code]) => {
      if (counts !== undefined && (code === 0 || counts.failed > 0)) return counts;
      print(`FAILED: mocha ${args.join(' ')} ended with code ${code}`);
      return { passed: 0, skipped: 0, ...counts, failed: (counts?.failed ?? 0) + 1 };
    }),
  };
}

const lanes = LANES.map(start);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => lanes.forEach((lane) => lane.process.kill(signal)));
}

const total = { passed: 0, failed: 0, skipped: 0 };
for (const lane of lanes) {
  lane.show();
  const { passed, failed, skipped } = await lane.ended;
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exitCode = total.failed > 0 ? 1 : 0;
