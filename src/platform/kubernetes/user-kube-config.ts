import { existsSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { loadKubeConfig, readKubeConfig } from './kube-config.ts';
import { rereadTokenFiles } from './token-file.ts';

export interface UserKubeConfigOptions {
  /** Those that are there are merged as kubectl does it: of what has the same name, the first counts. */
  files: readonly string[];
  /** Whether each of them must be there. */
  areGiven?: boolean;
  /** Default: the current one. */
  context?: string;
}

/**
 * How a person at a terminal reaches a cluster. Where no file is there, as the pod that this process runs in. Throws
 * where that is none either, and where a file or the context is of no use.
 */
export function loadUserKubeConfig({ files, areGiven = false, context }: UserKubeConfigOptions): KubeConfig {
  const found = files.filter((file) => areGiven || existsSync(file)).map(readKubeConfig);
  if (found.length === 0) return loadKubeConfig({});
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: firstOfEachName(found.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(found.flatMap(({ users }) => users)),
    contexts: firstOfEachName(found.flatMap(({ contexts }) => contexts)),
    currentContext: context ?? found.map(({ currentContext }) => currentContext).find(Boolean) ?? '',
  });
  if (context !== undefined && config.getContextObject(context) === null) {
    const names = config.contexts.map(({ name }) => name).join(', ') || 'none';
    throw new Error(`The kubeconfig has no context of that name; it has: ${names}`);
  }
  if (config.getCurrentCluster() === null)
    throw new Error(`The kubeconfig ${files.join(', ')} names no current cluster`);
  rereadTokenFiles(config);
  return config;
}

function firstOfEachName<T extends { name: string }>(items: readonly T[]): T[] {
  return [...new Map(items.toReversed().map((item) => [item.name, item])).values()].toReversed();
}
