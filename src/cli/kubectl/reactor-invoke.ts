import { callApi, problemOf } from './api-call.ts';
import type { Cluster } from './cluster.ts';
import { readDocument, renderJson } from './input.ts';
import type { PluginOptions, Terminal } from './options.ts';
import { PluginError } from './plugin-error.ts';
import { readResource } from './resources.ts';

/** Resolves to the exit code: 0 where the code gave a result; else 1, also where it answered an error of its own. */
export async function invokeReactor(cluster: Cluster, options: PluginOptions, terminal: Terminal): Promise<number> {
  const [name = ''] = options.names;
  const { status } = await readResource(cluster, 'Reactor', name);
  if (status?.id === undefined) {
    throw new PluginError(`the Reactor ${name} is not in the API: \`kubectl tokenkeep status\` says why`);
  }
  const args = await readDocument(options, terminal);
  const answer = await callApi(cluster, options, `/reactors/${encodeURIComponent(status.id)}/react`, { args });
  if (answer.status >= 200 && answer.status < 300) {
    terminal.write(renderJson(JSON.parse(answer.body)));
    return 0;
  }
  terminal.report(problemOf(answer));
  // The code's own answer, which can be anything; a problem has been told already.
  if (answer.headers['content-type']?.startsWith('application/problem+json') !== true) terminal.write(answer.body);
  return 1;
}
