import { demandApi } from './api-call.ts';
import type { Cluster } from './cluster.ts';
import { readDocument, renderJson } from './input.ts';
import type { PluginOptions, Terminal } from './options.ts';
import { PluginError } from './plugin-error.ts';

export async function tokenize(cluster: Cluster, options: PluginOptions, terminal: Terminal): Promise<number> {
  const document = await readDocument(options, terminal);
  terminal.write(renderJson(await demandApi(cluster, options, '/tokenize', document)));
  return 0;
}

/** Writes the plaintext of one token as it is, that of several as an object by their ids, or a whole document. */
export async function detokenize(cluster: Cluster, options: PluginOptions, terminal: Terminal): Promise<number> {
  const { names } = options;
  const document = names.length > 0 ? expressionsOf(names) : await readDocument(options, terminal);
  if (process.stdout.isTTY) terminal.report('Plaintext follows, on this terminal and in what it keeps of its output');
  const answer = await demandApi(cluster, options, '/detokenize', document);
  const [only, ...others] = names;
  const shown = only !== undefined && others.length === 0 ? (answer as Record<string, unknown>)[only] : answer;
  terminal.write(typeof shown === 'string' ? shown : renderJson(shown));
  return 0;
}

function expressionsOf(ids: readonly string[]): Record<string, string> {
  if (!ids.every((id) => /^[^\s{}|'"]{1,255}$/.test(id))) {
    throw new PluginError('each ID must be that of a token; expressions go into a document, by --data');
  }
  return Object.fromEntries(ids.map((id) => [id, `{{ ${id} }}`]));
}
