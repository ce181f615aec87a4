import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { RELEASE } from '../release.ts';
import type { Stage } from '../step.ts';
import { TEAM } from '../team.ts';

const PROGRAM = fileURLToPath(new URL('./program.ts', import.meta.url));

export interface LoadSettings {
  readonly url: string;
  readonly key: string;
  /** It is called by so many at a time. Undefined: tokens are created, some 15 in a second, and read, some 45. */
  readonly reactorId?: string;
  readonly callers?: number;
}

export interface LoadProgress {
  readonly requests: number;
  readonly failed: number;
  /** Tokens whose creation was answered with success. */
  readonly acknowledged: number;
  /** The longest time in which no request succeeded. */
  readonly outageMs: number;
}

export interface LoadReport extends LoadProgress {
  /** The first ones that failed, with what was answered. */
  readonly failures: readonly string[];
  /** What was not begun, since too many waited for an answer. */
  readonly dropped: number;
  /** Of the acknowledged tokens, those that are not there at the end, or not as they were given. */
  readonly lost: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Those of more than a second, by the second in which they began and what they were. */
  readonly slow: readonly string[];
}

/** What the program writes. Its outage in `progress` is that since the line before. */
export type LoadLine = { readonly progress: LoadProgress } | { readonly report: LoadReport };

/** What a service may not answer for, while one pod takes over from another one. */
const LONGEST_OUTAGE_MS = 10_000;

/** Ends with the scope that holds it, also where a step fails. */
export interface Load extends Disposable {
  /** How it goes, as of a moment ago. */
  progress(): LoadProgress;
  /** From now on, `progress` tells of later outages alone. */
  forgetOutages(): void;
  stop(): Promise<LoadReport>;
}

/** Begins to call the API by its Service, from the node, as the application `payments`. */
export async function startLoad(stage: Stage, of: Pick<LoadSettings, 'reactorId' | 'callers'> = {}): Promise<Load> {
  const node = stage.get('node');
  const address = await node.demand([
    ...['get', 'service', RELEASE.name, '-n', RELEASE.namespace, '--output=jsonpath={.spec.clusterIP}'],
  ]);
  const settings: LoadSettings = { url: `http://${address}`, key: await keyOf(stage, 'payments'), ...of };
  const child = node.machine.spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM]);
  child.stdin.write(`${JSON.stringify(settings)}\n`);
  let progress: LoadProgress = { requests: 0, failed: 0, acknowledged: 0, outageMs: 0 };
  let report: LoadReport | undefined;
  createInterface({ input: child.stdout }).on('line', (written) => {
    const line = JSON.parse(written) as LoadLine;
    if ('report' in line) report = line.report;
    else progress = { ...line.progress, outageMs: Math.max(progress.outageMs, line.progress.outageMs) };
  });
  const outputs = Promise.all([text(child.stderr), once(child, 'close')]);
  return {
    progress: () => progress,
    forgetOutages() {
      progress = { ...progress, outageMs: 0 };
    },
    async stop() {
      child.stdin.end();
      const [stderr] = await outputs;
      if (report === undefined) throw new Error(`the load ended: ${stderr.trim()}`);
      for (const line of report.slow) process.stdout.write(`   slow: ${line}\n`);
      return report;
    },
    [Symbol.dispose]() {
      child.stdin.end();
    },
  };
}

/** An application's key, from the Secret that the operator has written. */
export async function keyOf(stage: Stage, application: string): Promise<string> {
  const secret = `${application}-api-key`;
  const key = await stage
    .get('node')
    .demand([...['get', 'secret', secret, '-n', TEAM, '--output=jsonpath={.data.api-key}']]);
  return Buffer.from(key, 'base64').toString();
}

/** Fails where a request did, a token is gone, or nothing was answered for long. */
export function assertUnharmed(
  { requests, failed, failures, lost, outageMs }: LoadReport,
  longestOutageMs = LONGEST_OUTAGE_MS,
): void {
  if (requests === 0) throw new Error('the load made no request');
  if (failed > 0) throw new Error(`${failed} of ${requests} requests failed:\n${failures.join('\n')}`);
  if (lost > 0) throw new Error(`${lost} tokens that were acknowledged are gone`);
  if (outageMs > longestOutageMs) throw new Error(`no request was answered for ${outageMs} ms`);
}

export function remarkOf({ requests, dropped, p99Ms, maxMs, outageMs }: LoadReport): string {
  const answers = `none failed, p99 ${p99Ms} ms, longest ${maxMs} ms, none answered for ${outageMs} ms at most`;
  return `${requests} requests, ${dropped} more not begun, ${answers}`;
}
