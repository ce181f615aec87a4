import { readFile, writeFile } from 'node:fs/promises';
import { counted } from '../../plural.ts';
import type { Cluster } from '../cluster.ts';
import type { PluginOptions, Terminal } from '../options.ts';
import { PluginError } from '../plugin-error.ts';
import { renderArchive } from './archive.ts';
import type { ArchivedFile } from './archive.ts';
import { gather } from './gather.ts';
import type { Gathered } from './gather.ts';
import { createRedaction } from './redaction.ts';
import type { Redaction } from './redaction.ts';

/** Writes a redacted bundle that only its maker can read, and says what is in it. Resolves to the exit code. */
export async function writeReport(cluster: Cluster, options: PluginOptions, terminal: Terminal): Promise<number> {
  const now = new Date();
  const gathered = await gather(cluster, options);
  const redaction = createRedaction();
  for (const found of gathered.objects.values()) redaction.learn(found);
  const about = {
    madeAt: now.toISOString(),
    kubectlTokenkeep: await readVersion(),
    missing: gathered.missing.map(({ what, why }) => ({ what, why: redaction.text(why) })),
  };
  const files = [{ path: 'report.json', content: renderJson(about) }, ...redactedFiles(gathered, redaction)];
  const file = options.file ?? `tokenkeep-report-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`;
  await writeNew(file, renderArchive(files, now));

  for (const { path, content } of files) terminal.write(`${path}  ${summarize(content)}`);
  for (const { what, why } of about.missing) terminal.report(`Without ${what}: ${why}`);
  terminal.write(
    `Written to ${file}. Codes, configurations, Secrets and keys are not in it; read it before you send it.`,
  );
  return 0;
}

function redactedFiles({ objects, logs, metrics }: Gathered, redaction: Redaction): ArchivedFile[] {
  return [
    ...[...objects].map(([name, found]) => ({ path: `${name}.json`, content: renderJson(redaction.objects(found)) })),
    ...[...logs].map(([name, log]) => ({ path: `logs/${name}.log`, content: redaction.text(log) })),
    ...[...metrics].map(([name, text]) => ({ path: `metrics/${name}.txt`, content: redactMetrics(text, redaction) })),
  ];
}

/** All but the values: they are numbers, and may well have as many digits as one of a card. */
function redactMetrics(text: string, redaction: Redaction): string {
  return text.replaceAll(/^(.*?)( [\d.eE+-]+| NaN| [+-]Inf)?$/gm, (_, series: string, value: string = '') => {
    return redaction.text(series) + value;
  });
}

async function writeNew(file: string, content: Buffer): Promise<void> {
  try {
    await writeFile(file, content, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new PluginError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

function renderJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function summarize(content: string): string {
  const lines = content.split('\n').length - 1;
  return `${counted(lines, 'line')}, ${Math.ceil(content.length / 1024)} KiB`;
}

async function readVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
