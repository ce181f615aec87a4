import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { PluginOptions, Terminal } from './options.ts';
import { PluginError } from './plugin-error.ts';

/** The document that a command was given. Neither it nor what a parser says of it is ever part of an error. */
export async function readDocument({ dataFile }: PluginOptions, { report }: Terminal): Promise<unknown> {
  if (dataFile === undefined && process.stdin.isTTY) report('Reading JSON from the terminal; Ctrl-D ends it');
  const written = dataFile === undefined ? await text(process.stdin) : await readDataFile(dataFile);
  try {
    return JSON.parse(written) as unknown;
  } catch {
    throw new PluginError(`${dataFile ?? 'standard input'} holds no JSON`);
  }
}

async function readDataFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new PluginError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

export function renderJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
