import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApplicationType } from '../../src/domain/applications.ts';
import type { Identity, JudgeStage } from './stage.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIGURATION = join(ROOT, 'config', 'schemathesis.toml');

export interface PassOptions {
  /** The judge's program. */
  readonly program: string;
  readonly stage: JudgeStage;
  /** Whose key the requests are sent with. */
  readonly type: ApplicationType;
  /** Requests of random data that an operation gets in a phase, and sequences of requests, at most. */
  readonly examples: number;
}

export interface PassOutcome {
  readonly passed: number;
  readonly failed: number;
}

/** The configuration of the checkout, with what only this run knows: its address, keys and ids. */
async function writeConfiguration({ stage, type }: PassOptions, identities: readonly Identity[]): Promise<string> {
  const users = join(stage.folder, `${type}.json`);
  const auth = identities.map(({ name, key }) => ({ name, fixedHeaders: [{ name: 'SVC-API-KEY', value: key }] }));
  await writeFile(users, JSON.stringify({ auth }), { mode: 0o600 });
  const names = identities.map(({ name }) => name);
  const configuration = join(stage.folder, `${type}.toml`);
  const lines = [
    `base-url = ${JSON.stringify(stage.baseUrl)}`,
    (await readFile(CONFIGURATION, 'utf8')).replace('"test/judge/', `"${ROOT}test/judge/`),
    '[auth.wfc]',
    `path = ${JSON.stringify(users)}`,
    `user = ${JSON.stringify(names[0])}`,
    `peers = ${JSON.stringify(names)}`,
    '[dictionaries.reactors]',
    `values = ${JSON.stringify(stage.reactors)}`,
    '[dictionaries.invocations]',
    `values = ${JSON.stringify(stage.invocations)}`,
    '',
  ];
  await writeFile(configuration, lines.join('\n'));
  return configuration;
}

/** Judges every operation with the key of one application; counts operations and stateful runs, as the report does. */
export async function judge(options: PassOptions): Promise<PassOutcome> {
  const { program, stage, type, examples } = options;
  const identities = await stage.identities(type);
  const configuration = await writeConfiguration(options, identities);
  const report = join(stage.folder, `${type}-junit.xml`);
  const child = spawn(
    program,
    [
      ...['--config-file', configuration, 'run', `${stage.baseUrl}/openapi.json`, '--no-color'],
      ...['--max-examples', String(examples)],
      ...['--report', 'junit', '--report-junit-path', report],
    ],
    { cwd: stage.folder, stdio: 'inherit', env: { ...process.env, JUDGED_APPLICATION: identities[0].id } },
  );
  const [code] = (await once(child, 'close')) as [number | null];
  const counts = /<testsuites?\b[^>]*>/.exec(await readFile(report, 'utf8').catch(() => ''))?.[0] ?? '';
  const countOf = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(counts)?.[1] ?? 0);
  const failed = countOf('failures') + countOf('errors');
  // A judge that ends without a verdict has judged nothing, and so has one whose key went bad on the way.
  if ((code !== 0 && failed === 0) || !(await stage.isKnown(identities[0]))) return { passed: 0, failed: failed + 1 };
  return { passed: countOf('tests') - failed, failed };
}
