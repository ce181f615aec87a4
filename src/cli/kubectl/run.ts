import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import { openCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { runInApiPod } from './in-pod.ts';
import type { PluginOptions, Terminal } from './options.ts';
import { explain, PluginError } from './plugin-error.ts';
import { invokeReactor } from './reactor-invoke.ts';
import { printReactorLogs } from './reactor-logs.ts';
import { writeReport } from './report/write-report.ts';
import { printClusterStatus } from './status.ts';
import { detokenize, tokenize } from './tokens.ts';

/** Resolves to the exit code. */
type Run = (cluster: Cluster, options: PluginOptions, terminal: Terminal) => Promise<number>;

const COMMANDS: Readonly<Record<string, Run>> = {
  status: printClusterStatus,
  tokenize,
  detokenize,
  'reactor invoke': invokeReactor,
  'reactor logs': printReactorLogs,
  'keys status': runInApiPod,
  'keys rotate': runInApiPod,
  'keys rewrap': runInApiPod,
  'audit verify': runInApiPod,
  report: writeReport,
};

/** `kubectl tokenkeep`. Rejects with a PluginError where the command cannot do what it was asked for. */
export async function runPlugin(options: PluginOptions, terminal: Terminal): Promise<number> {
  const run = COMMANDS[options.command];
  if (run === undefined) throw new PluginError(`unknown command ${options.command}`);
  const cluster = openCluster(options);
  try {
    return await run(cluster, options, terminal);
  } catch (error) {
    if (error instanceof PluginError) throw error;
    if (error instanceof KubernetesError) throw new PluginError(explain(error, cluster.server));
    throw new PluginError(describeFault(error));
  } finally {
    cluster.close();
  }
}

/** Where it happened, and nothing of its message: it may quote what was being worked on. */
function describeFault(error: unknown): string {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return ['this is a fault of kubectl tokenkeep itself', `  ${name}`, ...frames].join('\n');
}
