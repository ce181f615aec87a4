import { readFileSync } from 'node:fs';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { adoptTokenFiles, rereadTokenFiles } from './token-file.ts';

export interface KubeConfigOptions {
  /** Path of a kubeconfig file. Default: the ServiceAccount of the pod that this process runs in. */
  kubeconfig?: string;
}

/** How to reach a cluster and as whom. Throws where neither a kubeconfig nor a pod says so. */
export function loadKubeConfig({ kubeconfig }: KubeConfigOptions): KubeConfig {
  return kubeconfig === undefined ? loadFromPod() : loadFromFile(kubeconfig);
}

function loadFromPod(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromCluster();
  if (config.getCurrentCluster()?.server.includes('undefined')) {
    throw new Error('No kubeconfig is given, and this process runs in no pod of a cluster');
  }
  rereadTokenFiles(config);
  return config;
}

function loadFromFile(file: string): KubeConfig {
  const config = readKubeConfig(file);
  if (config.getCurrentCluster() === null) throw new Error(`The kubeconfig ${file} names no current cluster`);
  rereadTokenFiles(config);
  return config;
}

/** What a file says, which may be a part of several; paths in it are made absolute. */
export function readKubeConfig(file: string): KubeConfig {
  const config = new KubeConfig();
  try {
    // Silent, since what the parser warns of it quotes.
    const content: unknown = parse(readFileSync(file, 'utf8'), { merge: true, logLevel: 'error' });
    const folder = path.dirname(path.resolve(file));
    adoptTokenFiles(content, folder);
    config.loadFromString(JSON.stringify(content));
    config.makePathsAbsolute(folder);
    return config;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    // Without its cause: a parser quotes the lines that it stumbles over, and a kubeconfig holds credentials.
    throw new Error(`The kubeconfig ${file} cannot be read${code}`);
  }
}
